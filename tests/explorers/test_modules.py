"""Modules are joined into one text that says the same; what the joiner does not know is refused by name."""

import pytest

from labkit.explorers.hosts import EMBEDDING, FILM, PLAYGROUND
from labkit.explorers.modules import WEB, joined, styles

FILES = {
    "entry.js": 'import { twice, NAME } from "./a/first.js";\nimport {\n  one as uno,\n} from "./second.js";\n'
    "export default [twice(uno), NAME];\n",
    "a/first.js": 'import { one } from "../second.js";\nconst two = 2 * one;\n'
    'export const NAME = "first";\nexport function twice(x) {\n  return two * x;\n}\n',
    "second.js": "export const one = 1; // export\nconst two = 7;\n",
}


def write(folder, **changed):
    files = FILES | {name.replace("_", "/") + ".js": text for name, text in changed.items()}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_each_module_is_there_once_after_what_it_imports(tmp_path):
    assert joined("entry.js", write(tmp_path)) == (
        "const $second = (() => {\nconst one = 1; // export\nconst two = 7;\n\nreturn { one };\n})();\n"
        'const $a_first = (() => {\nconst { one } = $second;\nconst two = 2 * one;\nconst NAME = "first";\n'
        "function twice(x) {\n  return two * x;\n}\n\nreturn { NAME, twice };\n})();\n"
        "const { twice, NAME } = $a_first;\nconst {\n  one: uno,\n} = $second;\nexport default [twice(uno), NAME];\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        'import all from "./second.js";',
        'import * as all from "./second.js";',
        'import "./second.js";',
        "export { two };",
        "export let three = 3;",
        "export default 1;",
    ],
)
def test_what_it_does_not_know_is_named(tmp_path, line):
    with pytest.raises(ValueError, match=r"first\.js: .* cannot be joined"):
        joined("entry.js", write(tmp_path, a_first=FILES["a/first.js"] + line + "\n"))


def test_modules_that_import_each_other_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"first\.js and second\.js import each other"):
        joined("entry.js", write(tmp_path, second='import { NAME } from "./a/first.js";\n' + FILES["second.js"]))


@pytest.mark.parametrize("component", [EMBEDDING, FILM, PLAYGROUND], ids=lambda component: component.folder)
def test_every_host_gets_one_module_and_the_style(component):
    for host in ("jupyter", "streamlit", "book"):
        assert "\nimport " not in component.module(host)
        assert component.module(host).count("\nexport ") == (host != "book")
    assert component.css == styles(*component.sheets)
    assert ".labkit-embedding" in component.css


def test_sources_are_modules_for_node_too():
    assert '"type": "module"' in (WEB / "package.json").read_text()
