"""Claims: every comparison names runs that record.py makes, and the verdict follows from the intervals alone."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.base.words import VERDICTS
from labkit.data import papers
from labkit.runs.claims import Finding, evidence, findings, surviving, verdict
from labkit.runs.compare import PairedDifference
from labkit.runs.paper_claims import CLAIMS, Claim, Comparison
from labkit.runs.read import find_runs
from labkit.runs.variant import Variant

ROOT = Path(__file__).parents[2]


A, B = Variant("toy", "a"), Variant("toy", "b")


def script(name: str):
    """A script of data/runs, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "data" / "runs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def difference(low: float, high: float, seeds: int = 3) -> PairedDifference:
    mean = (low + high) / 2
    return PairedDifference(A, B, "R@1", tuple(range(seeds)), (mean,) * seeds, mean, low, high, seeds, 0)


CLAIM = Claim("pnp", "Table 1", "better", (Comparison(A, B),))


@pytest.mark.parametrize(
    ("claim", "differences", "expected"),
    [
        (CLAIM, [difference(0.01, 0.02)], "held"),
        (
            replace(CLAIM, comparisons=CLAIM.comparisons * 2),
            [difference(0.01, 0.02), difference(-0.01, 0.02)],
            "not resolved",
        ),
        (replace(CLAIM, comparisons=CLAIM.comparisons * 2), [difference(0.01, 0.02), difference(-0.01, 0.01)], "equal"),
        (replace(CLAIM, comparisons=CLAIM.comparisons * 2), [difference(0.01, 0.02)], "not measured yet"),
        (CLAIM, [difference(-0.01, 0.02)], "not resolved"),
        (CLAIM, [difference(-0.02, -0.01)], "contradicted"),
        (CLAIM, [difference(-0.005, 0.008)], "equal"),
        (CLAIM, [difference(0.01, 0.02, seeds=2)], "not measured yet"),
        (CLAIM, [], "not measured yet"),
        (replace(CLAIM, why_not="no GPU"), [], "not testable here"),
    ],
)
def test_the_verdict_follows_from_the_intervals(claim, differences, expected):
    assert verdict(claim, differences) == expected
    assert expected in VERDICTS


def test_evidence_says_numbers_interval_and_seeds():
    assert evidence(difference(0.01, 0.03)) == (
        "R@1 on toy, a against b: +2.00 points [+1.00, +3.00], higher in 3 of 3 seeds"
    )
    assert evidence(difference(-0.01, 0.03)).endswith("(a mean of ±2.00 would have been told)")


def test_what_survives_many_tests_is_counted_over_all_differences():
    clear = replace(difference(0.01, 0.03), differences=(0.0200, 0.0201, 0.0199))
    vague = replace(difference(-0.01, 0.03), differences=(-0.02, 0.05, 0.0))
    found = [Finding(CLAIM, (clear, vague), (), "held"), Finding(CLAIM, (vague,), (), "held")]
    assert surviving(found) == (1, 3)


def test_every_group_that_a_claim_names_is_made_by_the_script():
    scripts = script("record"), script("record_words")
    made = {job.variant for record in scripts for topic in record.TOPICS.values() for job in topic()}
    named = {group for claim in CLAIMS for c in claim.comparisons for group in (c.higher, c.lower)}
    assert named <= made, named - made


def test_every_claim_names_a_paper_and_can_be_tested_or_says_why_not():
    for claim in CLAIMS:
        assert claim.paper in papers.PAPERS
        assert bool(claim.comparisons) != bool(claim.why_not), claim
    assert {claim.paper for claim in CLAIMS} == set(papers.PAPERS)


def test_every_job_for_readers_of_words_is_a_valid_configuration():
    from labkit.surrogates.word_config import ARMS, load_word_config

    record = script("record_words")
    jobs = [job for preset in record.SAME_TIME for _, _, job in record.word_search.trials(preset)]
    jobs += [job for topic in record.TOPICS.values() for job in topic()]
    for job in jobs:
        load_word_config(job.preset, job.loss, job.settings)
    assert {job.loss for job in jobs} == {*ARMS}


def test_every_job_of_the_script_is_a_valid_configuration():
    from labkit.training.config import load_config

    record = script("record")
    jobs = [job for preset in record.TUNED_PRESETS for _, _, job in record.search.trials(preset, record.search.LOSSES)]
    jobs += [job for topic in record.TOPICS.values() for job in topic()]
    seen = {(job.preset, job.loss, tuple(job.settings.items())) for job in jobs}
    for preset, loss, settings in seen:
        load_config(preset, loss, dict(settings))
    ids = [run_id for topic in record.TOPICS.values() for job in topic() for run_id in job.run_ids()]
    assert len(set(ids)) == len(ids)


def test_ctrl_c_ends_the_script_with_one_line(monkeypatch, capsys, tmp_path):
    record = script("record")

    def interrupted(*jobs, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(record, "run_queue", interrupted)
    monkeypatch.setattr("sys.argv", ["record.py", "toy-ring", "--into", str(tmp_path)])
    assert record.main() == 130
    assert capsys.readouterr().err == "labkit: interrupted; the same command goes on where it stopped\n"


def words_of(svg):
    """The texts of a picture."""
    return re.findall(r"<text[^>]*>([^<]+)<", svg)


def test_the_recorded_page_is_what_the_runs_say():
    recorded = (ROOT / "data" / "runs" / "README.md").read_text(encoding="utf-8")
    report = script("report")
    assert recorded == report.page()
    drawn = report.picture(find_runs(ROOT / "data" / "runs")).decode()
    kept = (ROOT / "data" / "runs" / "claims.svg").read_text(encoding="utf-8")
    assert len(words_of(kept)) > 20
    assert words_of(kept) == words_of(drawn)  # coordinates may differ in a last digit elsewhere


def test_recorded_runs_are_whole_small_and_made_from_committed_code():
    runs = find_runs(ROOT / "data" / "runs")
    assert runs
    for run in runs:
        assert not run.problems, (run.id, run.problems)
        assert run.status == "finished", run.id
        assert run.record.dirty is False, run.id
        assert run.record.commit, run.id
        assert run.device == "cpu", run.id
        assert not (run.path / "checkpoints").exists(), run.id
    size = sum(f.stat().st_size for f in (ROOT / "data" / "runs").rglob("*") if f.is_file())
    assert size < 40e6


def test_findings_cover_every_claim():
    assert [finding.claim for finding in findings([])] == list(CLAIMS)
