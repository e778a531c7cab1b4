"""Stanford Online Products (Song et al., 2016): photographs of 22,634 products for sale, about five of each.

The official lists part the products; PNP, MPA, SGSL and the RS@k slides all print their counts.
"""

from __future__ import annotations

from pathlib import Path

from labkit.data.benchmarks.lists import ListedImage, Lists, entry, require_counts, rows

FOLDER = "Stanford_Online_Products"
WHERE = """\
Stanford Online Products: Stanford_Online_Products.zip from https://cvgl.stanford.edu/projects/lifted_struct/
  Stanford_Online_Products/Ebay_train.txt
  Stanford_Online_Products/Ebay_test.txt
  Stanford_Online_Products/bicycle_final/*.JPG …"""
COUNTS = {"train": (11_318, 59_551), "test": (11_316, 60_502)}


def read(folder: Path, *, check: bool) -> Lists:
    """The lists of both splits."""
    train, test = products(folder / "Ebay_train.txt"), products(folder / "Ebay_test.txt")
    if check:
        require_counts(folder, {"train": train, "test": test}, COUNTS)
    return Lists(train, test)


def products(file: Path) -> list[ListedImage]:
    """The images of one list."""
    columns = ("image_id", "class_id", "super_class_id", "path")
    return [entry(file, line, path, product) for line, (_, product, _, path) in rows(file, columns, header=True)]
