"""In-shop Clothes Retrieval (DeepFashion; Liu et al., 2016): photographs of 7,982 articles of clothing.

The official list has queries and a gallery for testing: `Splits.test` holds the queries. Used by SGSL, whose text
describes the whole of DeepFashion instead of this part (E-SG-11) and prints no counts of it.
"""

from __future__ import annotations

from pathlib import Path

from labkit.data.benchmarks.lists import ListedImage, Lists, entry, malformed, require_counts, rows

FOLDER = "In-shop Clothes Retrieval Benchmark"
WHERE = """\
In-shop Clothes Retrieval, for research only: Eval/list_eval_partition.txt and Img/img.zip (to be unpacked in Img) from
https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/InShopRetrieval.html
  In-shop Clothes Retrieval Benchmark/Eval/list_eval_partition.txt
  In-shop Clothes Retrieval Benchmark/Img/img/WOMEN/Dresses/id_00000002/*.jpg …"""
COUNTS = {"train": (3_997, 25_882), "query": (3_985, 14_218), "gallery": (3_985, 12_612)}


def read(folder: Path, *, check: bool) -> Lists:
    """The lists of training images, queries and gallery."""
    file = folder / "Eval" / "list_eval_partition.txt"
    columns = ("image_name", "item_id", "evaluation_status")
    found: dict[str, list[ListedImage]] = {"train": [], "query": [], "gallery": []}
    for line, (path, item, status) in rows(file, columns, skip=1, header=True):  # the first line is a count
        if status not in found:
            raise malformed(file, line, f"evaluation_status must be train, query or gallery, got {status!r}")
        found[status].append(entry(file, line, f"Img/{path}", item))
    if check:
        require_counts(folder, {**found}, COUNTS)
    return Lists(found["train"], found["query"], found["gallery"])
