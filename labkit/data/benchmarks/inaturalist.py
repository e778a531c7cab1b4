"""iNaturalist 2018 (Van Horn et al., 2018) as Smooth-AP splits it: species seen in training, others for testing.

PNP and the RS@k slides use this split. Its lists cover the official training and validation images together and name
an image as train_val2018/<group>/<species>/<file>, so the official json annotations are not needed.
"""

from __future__ import annotations

from pathlib import Path

from labkit.data.benchmarks.lists import ListedImage, Lists, entry, malformed, require_counts, rows

FOLDER = "inaturalist2018"
WHERE = """\
iNaturalist 2018, not for commercial use: train_val2018.tar.gz from
https://github.com/visipedia/inat_comp/tree/master/2018, and Smooth-AP's lists, Inat_dataset_splits.zip, from
https://drive.google.com/file/d/1sXfkBTFDrRU3__-NUs1qBP3sf_0uMB98; both unpacked in a folder named inaturalist2018
  inaturalist2018/Inat_dataset_splits/Inaturalist_train_set1.txt
  inaturalist2018/Inat_dataset_splits/Inaturalist_test_set1.txt
  inaturalist2018/train_val2018/Aves/2761/*.jpg …"""
COUNTS = {"train": (5_690, 325_846), "test": (2_452, 136_093)}


def read(folder: Path, *, check: bool) -> Lists:
    """The lists of both splits."""
    splits = folder / "Inat_dataset_splits"
    train, test = species(splits / "Inaturalist_train_set1.txt"), species(splits / "Inaturalist_test_set1.txt")
    if check:
        require_counts(folder, {"train": train, "test": test}, COUNTS)
    return Lists(train, test)


def species(file: Path) -> list[ListedImage]:
    """The images of one list; a class is the group and the species, such as Aves/2761."""
    images = []
    for line, (path,) in rows(file, ("path",)):
        parts = path.split("/")
        if len(parts) != 4:
            raise malformed(file, line, f"expected train_val2018/<group>/<species>/<file>, got {path!r}")
        images.append(entry(file, line, path, f"{parts[1]}/{parts[2]}"))
    return images
