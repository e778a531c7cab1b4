"""A miniature of the npm package `@iconify/json`: a few sets of drawings made of squares."""

import io
import json
import tarfile

import numpy as np


def svg(pattern, step=5, left=2, top=2):
    """A drawing of 4 × 4 cells: the four corners, which fix its box, and the bits of a number."""
    cells = [cell for cell in range(16) if cell in (0, 3, 12, 15) or pattern >> cell & 1]
    path = "".join(f"M{left + cell % 4 * step} {top + cell // 4 * step}h{step}v{step}h-{step}z" for cell in cells)
    return f'<path fill="currentColor" d="{path}"/>'


# Patterns are numbers without the bits of the corners.
SETS = {
    "lucide": {
        "house": svg(0x0002),
        "bell": svg(0x0004),
        "alarm": svg(0x0010),
        "star": svg(0x0020),
        "acme": svg(0x0040),
    },
    "mdi": {
        "home": svg(0x0006),
        "home-outline": svg(0x0012),
        "bell": svg(0x0022),
        "bell-outline": svg(0x0042),
        "alarm": svg(0x0202),
        "alarm-outline": svg(0x0402),
        "star": svg(0x0502),
    },
    "tabler": {"home": svg(0x2002), "bell": svg(0x4002), "alarm": svg(0x0014), "home-off": svg(0x0024)},
    # the drawing of lucide's house, smaller and elsewhere; the drawing of lucide's bell as alarm
    "ph": {"house-bold": svg(0x0002, 4, 6, 3), "bell": svg(0x0044), "bell-fill": svg(0x0604), "alarm": svg(0x0004)},
    "gridicons": {"home": svg(0x0204), "bell": svg(0x0404)},
    **{prefix: {"acme-logo": svg(0x1004), "box": svg(0x0204)} for prefix in ("simple-icons", "logos", "cib")},
}
LICENCES = {"lucide": "ISC", "mdi": "Apache-2.0", "gridicons": "GPL-2.0-only"}


def write_package(path, changed=None):
    """A package of the same form as the real one."""
    collections = {
        prefix: {"name": prefix.title(), "author": {"name": "A", "url": "https://a"}, "license": {"spdx": spdx}}
        for prefix, spdx in ((prefix, LICENCES.get(prefix, "MIT")) for prefix in SETS)
    }
    content = {"package/collections.json": collections}
    for prefix, drawn in {**SETS, **(changed or {})}.items():
        shown = {name: body if isinstance(body, dict) else {"body": body} for name, body in drawn.items()}
        content[f"package/json/{prefix}.json"] = {"prefix": prefix, "icons": shown, "width": 24, "height": 24}
    with tarfile.open(path, "w:gz") as archive:
        for name, value in content.items():
            text = json.dumps(value).encode()
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return path


def read(path):
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
