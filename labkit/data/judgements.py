"""People's judgements of compressed pictures: TID2013, JPEG AIC-4 and the raw votes of JPEG-AI-SDR25.

Read from prepared files where LABKIT_DATA points; nothing of them comes with labkit. TID2013 may be used for
educational and research purposes; it comes as numbers only, the distances of EfficientNet-Lite0's channels to the
reference.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from labkit.base.checks import check_choice
from labkit.data.files import DataError, File, find, verify

TID = File(
    "tid2013_compression_lite0.npz", "tid2013", "5459a78595e998c03aed4e2a5af783e43343724aadaccae6c4bc05496dafe1d5"
)
AIC4 = File(
    "jpeg_aic4_metrics_jnd.csv", "human_votes", "5b42d09286c0be5b482bdfff07def8320d6cb21dcbc4b699226e2f93ac6947c2"
)
VOTES = {
    "boosted": File(
        "jpegai_btc_votes.csv.gz", "human_votes", "f024a48c50d7dbbd0cc46e36e7c0ae279edb0b952361443b34318a7df0f56aba"
    ),
    "plain": File(
        "jpegai_ptc_votes.csv.gz", "human_votes", "9cb50ad3ea866f073a50cf3ee567b709c46098474e88c9db6e0806c6ea368979"
    ),
}
SOURCES = {
    TID.name: "prepared from TID2013, https://www.ponomarenko.info/tid2013.htm",
    AIC4.name: "JPEG AIC-4, https://jpeg.org/aic",
    **{file.name: "JPEG-AI-SDR25, https://jpeg.org/jpegai" for file in VOTES.values()},
}
TID_TYPES = {  # the compression-like ones of TID2013's 24
    7: "quantisation noise",
    8: "Gaussian blur",
    9: "denoising",
    10: "JPEG",
    11: "JPEG 2000",
    12: "JPEG with errors",
    13: "JPEG 2000 with errors",
    21: "lossy compression of noisy images",
    24: "sparse sampling and reconstruction",
}
AIC4_METRICS = (
    "PSNR-Y",
    "SSIM",
    "MS-SSIM",
    "IW-SSIM",
    "VMAF-neg",
    "SSIMULACRA2",
    "HDR-VDP-2 Q",
    "HDR-VDP-3 Q",
    "CVVDP",
)


@dataclass(frozen=True)
class Tid2013:
    """One row a picture: its reference, kind and level of distortion, mean opinion, metrics, features (N, 496)."""

    reference: np.ndarray
    type: np.ndarray
    level: np.ndarray
    opinion: np.ndarray
    metrics: dict[str, np.ndarray]
    features: np.ndarray


@dataclass(frozen=True)
class Aic4:
    """One row a picture: its reference, codec and level, how many just noticeable differences it is off, metrics."""

    reference: np.ndarray
    codec: np.ndarray
    level: np.ndarray
    distortion: np.ndarray
    metrics: dict[str, np.ndarray]


@dataclass(frozen=True)
class Votes:
    """One row a vote: which of two pictures is more unlike the reference. A picture is (codec, level), or ("", 0).

    answer: −1 the left one, 1 the right one, 0 not sure; votes that were skipped are left out. kind: "same" or "cross"
    codec, "trap" with a known answer, "bias" where the sheet says so.
    """

    worker: np.ndarray
    reference: np.ndarray
    left: list[tuple[str, int]]
    right: list[tuple[str, int]]
    answer: np.ndarray
    kind: np.ndarray


def located(file: File) -> Path:
    """The verified file, or how to get it."""
    path = find(file)
    if path is None:
        raise DataError(
            f"{file.name} (checksum {file.checksum}) was not found. It is not distributed with labkit ("
            f"{SOURCES[file.name]}); let LABKIT_DATA name the folder that holds it."
        )
    verify(path, file)
    return path


def tid2013() -> Tid2013:
    """900 pictures of 25 references."""
    with np.load(located(TID), allow_pickle=False) as arrays:
        rows = dict(zip(arrays["columns"].tolist(), arrays["rows"].T.astype(np.float64)))
        features = arrays["feat"].astype(np.float64)
    reference, kind, level = (rows[name].astype(int) for name in ("reference", "type", "level"))
    metrics = {title: rows[name] for title, name in (("PSNR", "psnr"), ("SSIM", "ssim"), ("MS-SSIM", "ms_ssim"))}
    return Tid2013(reference, kind, level, rows["mos"], metrics, features)


def aic4() -> Aic4:
    """300 pictures: 5 references, 6 codecs, 10 levels each."""
    with located(AIC4).open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    names = [parts_of(row["img_distorted"]) for row in rows]
    return Aic4(
        np.array([int(row["img_num"]) for row in rows]),
        np.array([codec for codec, _ in names]),
        np.array([level for _, level in names]),
        np.array([float(row["distortion"]) for row in rows]),
        {name: np.array([float(row[name]) for row in rows]) for name in AIC4_METRICS},
    )


def votes(presentation: str) -> Votes:
    """The raw votes; "boosted": differences were magnified, "plain": pictures as they are."""
    check_choice("presentation", presentation, VOTES)
    with gzip.open(located(VOTES[presentation]), "rt", encoding="utf-8", newline="") as opened:
        rows = [row for row in csv.DictReader(opened) if row["response"] != "skip"]
    kinds = ("same", "cross", "trap", "bias")
    return Votes(
        np.array([int(row["worker"]) for row in rows]),
        np.array([int(row["img_num"]) for row in rows]),
        [parts_of(row["img_left"]) for row in rows],
        [parts_of(row["img_right"]) for row in rows],
        np.array([{"left": -1, "right": 1, "notsure": 0}[row["response"]] for row in rows]),
        np.array([next((kind for kind in kinds if row.get(f"is_{kind}") == "1"), "") for row in rows]),
    )


def parts_of(name: str) -> tuple[str, int]:
    """Codec and level of a picture, such as BTC_00002_JPEG-AI_02.png; the reference is ("", 0)."""
    _, _, codec, level = name.removesuffix(".png").split("_")
    return ("", 0) if codec == "0ref" else (codec, int(level))
