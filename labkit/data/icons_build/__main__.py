"""Make data/icons anew, the part of the icons that comes with labkit: python -m labkit.data.icons_build."""

from __future__ import annotations

import numpy as np

from labkit.base.files import write_bytes
from labkit.base.paths import cache, shipped
from labkit.data.files import locate
from labkit.data.icons import FILES
from labkit.data.icons_build.attribution import attribution
from labkit.data.icons_build.kinds import write_kinds
from labkit.data.icons_build.package import fetch_package, read_collections
from labkit.data.icons_build.small import small, write


def main() -> None:
    """Take the part from the whole, credit those who drew it, and say which things are drawn in several ways."""
    collections = read_collections(fetch_package(cache() / "icons"))
    with np.load(locate(FILES["whole"]), allow_pickle=False) as whole:
        part = small({name: whole[name] for name in whole.files})
    path = write(part, shipped() / "icons" / FILES["small"].name)
    write_bytes(path.with_name("ATTRIBUTION.md"), attribution(collections, part).encode())
    write_kinds(locate(FILES["whole"]), path.with_name("kinds.csv"))
    print(f"{len(part['images']):,} drawings of {len(part['names']):,} classes in {path}")


if __name__ == "__main__":
    main()
