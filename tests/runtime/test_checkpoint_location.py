"""Where checkpoints go is read strictly, and all that is wrong is said at once."""

from pathlib import Path

import pytest

from spotproof_gke.problems import ProblemsError
from spotproof_runtime import CheckpointError, Checkpoints, Every
from spotproof_runtime.checkpoints.location import parse_location
from spotproof_runtime.settings import SettingsError


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("gs://acme-runs/run-42", "gs://acme-runs/run-42"),
        ("gs://acme.runs_1/team/a/run 42/", "gs://acme.runs_1/team/a/run 42"),
        ("gs://acme-runs//run/", "gs://acme-runs/run"),
        ("gs://acme-runs/läuft", "gs://acme-runs/läuft"),
        ("/mnt/bucket/run", "/mnt/bucket/run"),
        ("/mnt/bucket/run/", "/mnt/bucket/run"),
        (Path("/mnt/run"), "/mnt/run"),
    ],
)
def test_a_bucket_or_a_directory_is_read(written: str | Path, read: str) -> None:
    assert str(parse_location(written)) == read
    assert str(parse_location(written, "run-1")) == f"{read}/run-1"


def test_a_directory_of_a_laptop_is_made_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert str(parse_location("runs/a")) == f"{tmp_path}/runs/a"
    assert str(parse_location("~/runs")) == "/home/me/runs"


def test_the_environment_says_it_when_the_program_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPOTPROOF_CHECKPOINT_LOCATION", "gs://acme-runs/a")
    assert str(parse_location(None)) == "gs://acme-runs/a"
    monkeypatch.delenv("SPOTPROOF_CHECKPOINT_LOCATION")
    with pytest.raises(SettingsError, match=r"SPOTPROOF_CHECKPOINT_LOCATION: .*outlives the pod"):
        Checkpoints()


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("", "outlives the pod"),
        ("  ", "outlives the pod"),
        ("gs://", "3 to 222"),
        ("gs://Acme/run", "3 to 222"),
        ("gs://a/run", "3 to 222"),
        ("gs://-acme/run", "3 to 222"),
        ("gs://acme-runs", "a path of its own"),
        ("gs://acme-runs/", "a path of its own"),
        ("gs://acme-runs/a//b", "no empty part"),
        ("gs://acme-runs/../b", "no empty part"),
        ("gs://acme-runs/a\nb", "printable"),
        ("gs://acme-runs/" + "a" * 501, "at most 500 bytes"),
        ("gs:/acme-runs/run", "addressed by gs://"),
        ("GS://acme-runs/run", "addressed by gs://"),
        ("s3://acme-runs/run", "s3 is neither"),
        ("https://example.com/run", "https is neither"),
        ("file:///mnt/run", "file is neither"),
        ("/mnt/a\0b", "no zero byte"),
        ("~nobody-of-this-name/runs", "no home"),
        (__file__, "into a directory"),
    ],
)
def test_what_is_no_place_for_checkpoints_is_refused(written: str, rule: str) -> None:
    with pytest.raises(ProblemsError, match=rule):
        parse_location(written)


@pytest.mark.parametrize("run", ["", "..", "a/b", "-a", "a b", "a" * 101])
def test_the_name_of_a_run_is_one_plain_part(run: str) -> None:
    with pytest.raises(ProblemsError, match="the name of a run is 1 to 100"):
        parse_location("gs://acme-runs/a", run)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ProblemsError, match="3 problems"):
        parse_location("gs://A", run="/")


def test_a_directory_that_may_not_be_written_is_named() -> None:
    # Not even root may make a directory there.
    made = Checkpoints("/sys/spotproof-run", background=False, interval=Every(steps=1))
    with pytest.raises(CheckpointError, match=r"cannot write /sys/.*; let user \d+ write there"):
        made.offer(0, lambda directory: (directory / "a").touch())
