"""CUB-200-2011 (Wah et al., 2011): photographs of 200 bird species.

The first 100 species train, the last 100 test. SGSL prints these counts; MPA prints them swapped (E-MPA-9).
"""

from __future__ import annotations

from pathlib import Path

from labkit.data.benchmarks.lists import ListedImage, Lists, entry, malformed, require_counts, rows, whole

FOLDER = "CUB_200_2011"
WHERE = """\
CUB-200-2011, for research only: CUB_200_2011.tgz from https://www.vision.caltech.edu/datasets/cub_200_2011/
  CUB_200_2011/images.txt
  CUB_200_2011/image_class_labels.txt
  CUB_200_2011/images/001.Black_footed_Albatross/*.jpg …"""
COUNTS = {"train": (100, 5_864), "test": (100, 5_924)}
LAST_TRAIN_CLASS = 100


def read(folder: Path, *, check: bool) -> Lists:
    """The lists of both splits."""
    file = folder / "image_class_labels.txt"
    classes = {image: whole(file, line, number) for line, (image, number) in rows(file, ("image_id", "class_id"))}
    file = folder / "images.txt"
    train: list[ListedImage] = []
    test: list[ListedImage] = []
    for line, (image, path) in rows(file, ("image_id", "image_name")):
        if image not in classes:
            raise malformed(file, line, f"image {image} has no class in image_class_labels.txt")
        split = train if classes[image] <= LAST_TRAIN_CLASS else test
        split.append(entry(file, line, f"images/{path}", path.partition("/")[0]))
    if check:
        require_counts(folder, {"train": train, "test": test}, COUNTS)
    return Lists(train, test)
