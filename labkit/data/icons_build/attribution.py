"""Who drew the icons, and under which licence each set may be used."""

from __future__ import annotations

from typing import Any

import numpy as np

ADDRESSES = {
    "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "BSD-3-Clause": "https://opensource.org/license/bsd-3-clause",
    "CC-BY-3.0": "https://creativecommons.org/licenses/by/3.0/",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "ISC": "https://opensource.org/license/isc-license-txt",
    "MIT": "https://opensource.org/license/mit",
    "OFL-1.1": "https://openfontlicense.org",
    "Unlicense": "https://unlicense.org",
}
PAGE = """# Who drew the icons

{drawings:,} drawings of {sets} icon sets. They are the work of the authors below; changed here: drawn small, in grey,
on white. No author endorses this use. Authors and licences are as the npm package `@iconify/json` 2.2.535 states them:
{licences}.
The texts of MIT, ISC and BSD-3-Clause are in LICENCES.md.

| set | title | author | licence | address | drawings |
|---|---|---|---|---|---:|
{rows}
"""


def attribution(collections: dict[str, Any], data: dict[str, np.ndarray]) -> str:
    """A page with a table of the sets in data: author, licence, address; `collections` is the package's own list."""
    rows, licences = [], set()
    for number, prefix in enumerate(data["sets"].tolist()):
        told = collections[prefix]
        author, licence = told.get("author", {}), told["license"]
        url = author.get("url", licence.get("url", ""))
        drawings = int((data["set"] == number).sum())
        licences.add(licence["spdx"])
        rows.append(
            f"| {prefix} | {told['name']} | {author.get('name', '')} | {licence['spdx']} | {url} | {drawings:,} |"
        )
    links = ",\n".join(f"[{licence}]({ADDRESSES[licence]})" for licence in sorted(licences))
    return PAGE.format(drawings=len(data["images"]), sets=len(rows), licences=links, rows="\n".join(rows))
