"""All packages here have one version, which one command raises."""

import shutil
from pathlib import Path

import pytest

from tools import set_version as tool
from tools.set_version import PLACES, ROOT, VersionError, current, set_version

NAMED = "clone --branch v{0} x\nStart from Spotproof {0}\nx.git/components@v{0}\n"
NOT_NAMED = f"v{current()}1 v{current()}.1 1.v{current()} {current()}\n"
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_package_and_the_changelog_have_the_same_version() -> None:
    newest = next(line for line in CHANGELOG.splitlines() if line.startswith("## "))
    assert current() in newest


def test_no_project_file_is_forgotten() -> None:
    named = {name for name, _ in PLACES}
    for pattern in ("*/pyproject.toml", "*/PulumiPlugin.yaml", "policies/*/PulumiPolicy.yaml"):
        for file in ROOT.glob(pattern):
            assert str(file.relative_to(ROOT)) in named


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in {name for name, _ in PLACES}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(f"{NAMED.format(current())}{NOT_NAMED}")
    return tmp_path


def test_one_command_raises_every_package_and_the_tag_on_every_page(root: Path) -> None:
    changed = set_version("0.2.0", root)

    assert current(root) == "0.2.0"
    assert {root / name for name, _ in PLACES} <= set(changed)
    page = (root / "docs" / "page.md").read_text()
    assert page == f"{NAMED.format('0.2.0')}{NOT_NAMED}"
    assert '"spotproof-gke==0.2.0"' in (root / "runtime" / "pyproject.toml").read_text()
    assert set_version("0.2.0", root) == []


def test_packages_that_differ_are_named_and_mended(root: Path) -> None:
    plugin = root / "components" / "PulumiPlugin.yaml"
    plugin.write_text(plugin.read_text().replace(current(root), "9.9.9"))
    with pytest.raises(VersionError, match=r"9\.9\.9  components/PulumiPlugin\.yaml"):
        current(root)
    set_version("0.2.0", root)
    assert current(root) == "0.2.0"


@pytest.mark.parametrize("version", ["", "1", "0.2", "v0.2.0", "0.2.0-beta", "latest"])
def test_what_is_no_version_is_refused(
    version: str, capsys: pytest.CaptureFixture[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "ROOT", root)
    assert tool.main([version]) == 1
    assert "three numbers" in capsys.readouterr().err
