"""Creates whose id nothing tells are settled by a person's word, and never in silence."""

from pathlib import Path

import pytest

from sandbox.recovery import recover as module
from sandbox.recovery.choices import Words
from sandbox.recovery.recover import Options, RecoveryError, recover
from tests.unit.fake_pulumi import Fake, Person, bucket, dashboard, nobody, resource

YES = Options(yes=True)


@pytest.fixture(autouse=True)
def no_orphans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "orphaned_providers", lambda project: [])


def test_a_create_that_cannot_be_looked_up_is_never_settled_in_silence(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.has([], ("creating", dashboard()))
    urn = dashboard()["urn"]

    with pytest.raises(RecoveryError, match="the server chooses its id") as stopped:
        recover(fake.pulumi(), YES, nobody())
    assert f"    {urn}\n" in str(stopped.value)
    assert fake.changes == []

    fake.in_cloud("projects/1/dashboards/2")
    words = Words(ids=[f"{urn}=projects/1/dashboards/2"])
    assert recover(fake.pulumi(), Options(yes=True, words=words), nobody()) == 0
    assert fake.ids == ["projects/1/dashboards/2"]

    fake.has([], ("creating", dashboard()))
    dropping = Options(yes=True, words=Words(drops=["dashboard"]))
    assert recover(fake.pulumi(), dropping, nobody()) == 0
    assert fake.ids == []


@pytest.mark.parametrize(("answer", "ids"), [("d-1", ["d-1"]), ("", [])])
def test_a_person_is_asked_for_an_id(tmp_path: Path, answer: str, ids: list[str]) -> None:
    fake = Fake(tmp_path)
    fake.has([], ("creating", dashboard()))
    fake.in_cloud("d-1")

    assert recover(fake.pulumi(), Options(), Person(answer, "y")) == 0

    assert fake.ids == ids


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (Words(ids=["none=1"]), "--id none=1: this is no interrupted create"),
        (Words(ids=["dashboard="]), "--id dashboard=: this is no interrupted create"),
        (Words(drops=["none"]), "--drop none: this is no interrupted create. These are: urn"),
    ],
)
def test_a_word_that_fits_nothing_is_refused(tmp_path: Path, words: Words, text: str) -> None:
    fake = Fake(tmp_path)
    fake.has([], ("creating", dashboard()))

    with pytest.raises(RecoveryError) as stopped:
        recover(fake.pulumi(), Options(yes=True, words=words), nobody())

    assert text in str(stopped.value)
    assert fake.changes == []


def test_a_create_taken_in_can_be_dropped_when_the_refresh_cannot_read_it(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.has([], ("creating", bucket()))
    fake.in_cloud("acme-data")
    fake.write("fail-refresh", "Error 403: that bucket is another project's")
    fake.write("backend", "file:///none")
    with pytest.raises(RecoveryError, match="the refresh failed"):
        recover(fake.pulumi(), YES, nobody())
    assert fake.ids == ["acme-data"]

    (tmp_path / "fail-refresh").unlink()
    dropping = Options(yes=True, words=Words(drops=["bucket"]))
    assert recover(fake.pulumi(), dropping, nobody()) == 0

    assert fake.ids == []


def test_what_can_be_created_again_is_dropped_without_a_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Fake(tmp_path, "file:///none")
    token = "gcp:projects/serviceIdentity:ServiceIdentity"
    fake.has([], ("creating", resource(token, "agent", {"service": "pubsub.googleapis.com"})))

    assert recover(fake.pulumi(), YES, nobody()) == 0

    said = capsys.readouterr().out
    assert f"to drop from the state, creating it again is harmless: {token} 'agent'" in said
    assert fake.ids == []
