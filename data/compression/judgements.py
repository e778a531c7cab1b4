"""Makes agreement.csv and golden_set.csv of this folder: `python data/compression/judgements.py` (needs LABKIT_DATA).

Twenty seconds on one core; the same data give the same files.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from labkit.base.files import atomic
from labkit.compression.agreement import all_pairs, difference, mean_over, rounded, table
from labkit.compression.lpips_comp import folds, held_out_scores, unseen_type_agreements
from labkit.compression.voters import decided, golden_set, quality_by, scale_of_people, trap_scores, votes_against
from labkit.data.judgements import VOTES, aic4, tid2013, votes

HERE = Path(__file__).parent
CLOSE = 1.0  # of TID2013's mean opinions, which run from 0 to 9
BLUR = 8
BARS = (0.5, 0.6, 0.7, 0.8, 0.9)
COLUMNS = ("data", "pairs", "metric", "agreement", "low", "high", "number", "references")


def tid_rows() -> list[dict[str, object]]:
    """Metrics on TID2013; LPIPS-Comp is always judged on references that it has not seen."""
    data = tid2013()
    pairs = all_pairs(data.reference, data.opinion)
    across = data.type[pairs.first] != data.type[pairs.second]
    close = np.abs(data.opinion[pairs.first] - data.opinion[pairs.second]) < CLOSE
    blur = (data.type[pairs.first] == BLUR) != (data.type[pairs.second] == BLUR)
    subsets = {
        "across types": pairs.chosen(across),
        "across types, close": pairs.chosen(across & close),
        "one side blurred": pairs.chosen(blur),
    }
    learned = held_out_scores(data, folds(data.reference))
    metrics = {
        **data.metrics,
        "Lite0 features, equal weights": -data.features.sum(1),
        "LPIPS-Comp, references unseen": learned,
    }
    rows = [{"data": "TID2013"} | row for row in table(metrics, subsets)]
    for name, chosen in subsets.items():
        gain = rounded(difference(learned, data.metrics["MS-SSIM"], chosen))
        rows.append({"data": "TID2013", "pairs": name, "metric": "LPIPS-Comp less MS-SSIM"} | gain)
    unseen = rounded(mean_over(*unseen_type_agreements(data)))
    rows.append({"data": "TID2013", "pairs": "across types", "metric": "LPIPS-Comp, one type unseen"} | unseen)
    return rows


def jpeg_rows() -> list[dict[str, object]]:
    """Metrics on JPEG AIC-4's scale and on the single votes of JPEG-AI, of those who pass the trap questions."""
    data = aic4()
    pairs = all_pairs(data.reference, -data.distortion)
    across = pairs.chosen(data.codec[pairs.first] != data.codec[pairs.second])
    rows = [{"data": "JPEG AIC-4"} | row for row in table(data.metrics, {"across codecs": across})]
    for presentation in VOTES:
        cast = votes(presentation)
        careful = [worker for worker, mark in trap_scores(cast).items() if mark >= 0.7]
        for kind, name in (("cross", "across codecs"), ("same", "one codec")):
            chosen = decided(cast, kind) & np.isin(cast.worker, careful)
            scales = {metric: quality_by(data, scores) for metric, scores in data.metrics.items()}
            for metric, quality in {**scales, "people's scale (JND)": scale_of_people(data)}.items():
                found = rounded(mean_over(votes_against(cast, quality, chosen), cast.reference[chosen]))
                rows.append({"data": f"JPEG-AI votes, {presentation}", "pairs": name, "metric": metric} | found)
    return rows


def golden_rows() -> list[dict[str, object]]:
    """Who passes the trap questions at several bars, and what both groups' votes across codecs are worth."""
    data, rows = aic4(), []
    for presentation in VOTES:
        cast = votes(presentation)
        for bar in BARS:
            found = golden_set(cast, data, bar)
            for group, share in (("pass", found.passing_agreement), ("fail", found.failing_agreement)):
                number = found.failing if group == "fail" else found.voters - found.failing
                row = {"presentation": presentation, "bar": bar, "voters": group, "number of voters": number}
                if share is not None:
                    rows.append(
                        row | {"votes": share.pairs} | {n: rounded(share)[n] for n in ("agreement", "low", "high")}
                    )
    return rows


def write(name: str, rows: list[dict[str, object]], columns: tuple[str, ...]) -> None:
    """A CSV in this folder."""
    with atomic(HERE / name) as path, path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    write("agreement.csv", [*tid_rows(), *jpeg_rows()], COLUMNS)
    write(
        "golden_set.csv",
        golden_rows(),
        ("presentation", "bar", "voters", "number of voters", "votes", "agreement", "low", "high"),
    )
