"""The ES modules of `web/`, joined into one text for hosts that take one: JupyterLab, Streamlit, a page from a file.

The sources are ordinary modules, which browsers and Node import as they are. Of module syntax they use only
`import { a, b as c } from "./x.js";` and `export` before a function, a class or a const, so that a few lines can join
them: each module becomes a function of its own, called once, that returns what it exports.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

WEB = Path(__file__).parent / "web"
IMPORT = re.compile(r'^import \{([^}]*)\} from "([./\w]+\.js)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def joined(entry: str, root: Path = WEB) -> str:
    """A module and all that it imports as the text of one module, which exports what the entry exports as default."""
    parts: dict[Path, str] = {}

    def name_of(path: Path) -> str:
        return "$" + re.sub(r"\W", "_", path.relative_to(root).with_suffix("").as_posix())

    def body_of(path: Path, above: tuple[Path, ...]) -> str:
        def taken(match: re.Match[str]) -> str:
            source = (path.parent / match[2]).resolve()
            if source in above:
                raise ValueError(f"{source.name} and {path.name} import each other")
            if source not in parts:
                parts[source] = wrapped(source, above)
            return f"const {{{match[1].replace(' as ', ': ')}}} = {name_of(source)};"

        return IMPORT.sub(taken, path.read_text(encoding="utf-8"))

    def wrapped(path: Path, above: tuple[Path, ...]) -> str:
        body = body_of(path, (*above, path))
        exported = ", ".join(EXPORT.findall(body))
        body = EXPORT.sub("", body)
        if unknown := OTHER.search(body):
            raise ValueError(f"{path.name}: {unknown[0]!r} cannot be joined; see {Path(__file__).name}")
        return f"const {name_of(path)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"

    root = root.resolve()
    last = body_of(root / entry, (root / entry,))
    return "".join([*parts.values(), last])


@cache
def styles(*names: str) -> str:
    """Style sheets of `web/` as one."""
    return "\n".join((WEB / name).read_text(encoding="utf-8") for name in names)
