"""What a sandbox's copy of a stack file holds, which names are a stack's, and who may use it."""

from pathlib import Path

import pytest
import yaml

from sandbox import stacks
from sandbox.__main__ import main
from sandbox.emulated import rehearsal_sandbox
from sandbox.engine import Engine
from sandbox.environment import Sandbox
from sandbox.locks import BusyError, only_run
from sandbox.mirror import mirrored_stack_file
from sandbox.rehearse import rehearse

ENGINE = Engine(Path("/engine/pulumi"), "v3.280.0", "build", "")

ODD = """\
%YAML 1.1
--- # odd, but YAML
config:
  spotproof:deletionProtection: yes   # the engine reads a text here
  spotproof:maintenanceWindow: { startTime: 12:00, "durationHours":4 }
  spotproof:twice: 1
  spotproof:twice: 010
  spotproof:date: 2026-11-29
  spotproof:text: |
    encryptionsalt: v1:not-a-key

    secure: neither
  spotproof:shared: &shared [on, off]
  spotproof:again: *shared
  spotproof:object: {secure: {a: b}}
"""


def _copy(tmp_path: Path, text: str, earlier: str | None = None) -> tuple[str, list[str]]:
    source, target = tmp_path / "Pulumi.dev.yaml", tmp_path / "copy" / "Pulumi.dev.yaml"
    source.write_bytes(text.encode())
    if earlier is not None:
        target.parent.mkdir()
        target.write_text(earlier)
    replaced = stacks.copy_without_secrets(source, target)
    assert source.read_bytes() == text.encode()
    return target.read_bytes().decode(), replaced


@pytest.mark.parametrize(
    "text",
    [
        ODD,
        ODD.replace("\n", "\r\n"),
        ODD.rstrip("\n"),
        "\ufeffconfig: {gcp:project: p}",
        "config:\n# nothing yet\n",
        *[(stacks.ROOT / "stacks" / f"Pulumi.{one}.yaml").read_text() for one in stacks.names()],
    ],
)
def test_a_copy_without_secrets_is_the_same_text(tmp_path: Path, text: str) -> None:
    assert _copy(tmp_path, text) == (text, [])


@pytest.mark.parametrize(
    ("text", "copied", "replaced"),
    [
        ("config:\n  a:b: {secure: v1:x} # why\n", "config:\n  a:b: placeholder # why\n", ["a:b"]),
        (
            "config:\n  a:b:\n    secure: v1:x\n\n  # next\n  a:c: yes\n",
            "config:\n  a:b:\n    placeholder\n\n  # next\n  a:c: yes\n",
            ["a:b"],
        ),
        (
            "config:\n  a:b:\n    secure: |\n      v1:x\n      y\n\n  a:c: 1\n",
            "config:\n  a:b:\n    placeholder\n\n  a:c: 1\n",
            ["a:b"],
        ),
        (
            "config:\n  a:b:\n  - secure: x\n  - plain: {secure: y, other: z}\n  - - secure: w\n",
            "config:\n  a:b:\n  - placeholder\n  - plain: {secure: y, other: z}\n"
            "  - - placeholder\n",
            ["a:b[0]", "a:b[2][0]"],
        ),
        (
            'config: {"a:b":{"secure":"x"},"a:c":[secure: y, 1]}',
            'config: {"a:b": placeholder,"a:c":[placeholder, 1]}',
            ["a:b", "a:c[0]"],
        ),
        (
            "config:\n  a:b: &s {secure: x}\n  a:c: *s\n  a:d: &t\n    secure: y\n  a:e: *t\n",
            "config:\n  a:b: &s placeholder\n  a:c: *s\n  a:d: &t placeholder\n  a:e: *t\n",
            ["a:b", "a:c", "a:d", "a:e"],
        ),
        (
            "config:\n  a:a: &u 12:00\n  a:d:\n    secure: *u\n  a:e:\n    secure:\n  a:f: on\n",
            "config:\n  a:a: &u 12:00\n  a:d:\n    placeholder\n  a:e:\n    placeholder\n"
            "  a:f: on\n",
            ["a:d", "a:e"],
        ),
    ],
)
def test_encrypted_values_alone_become_the_placeholder(
    tmp_path: Path, text: str, copied: str, replaced: list[str]
) -> None:
    assert _copy(tmp_path, text) == (copied, replaced)
    yaml.compose(copied)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        (
            "# ours\nencryptionsalt: v1:x # salt\nconfig:\n  a:b: 012\nsecretsprovider: k\n# end\n",
            "# ours\nconfig:\n  a:b: 012\n# end\n",
        ),
        ("config: {a:b: no}\nencryptedkey: |\n  Ci\n  QA", "config: {a:b: no}\n"),
        ("environment:\n- shared\n- more\n\nconfig:\n  a:b: 1\n", "\nconfig:\n  a:b: 1\n"),
        ("{encryptionsalt: x, config: {a:b: no}, encryptedkey: y, secretsprovider: z}",
         "{config: {a:b: no}, }"),
        ("encryptionsalt: v1:x\n", ""),
    ],
)  # fmt: skip
def test_keys_of_encryption_go_and_nothing_else_does(
    tmp_path: Path, text: str, copied: str
) -> None:
    assert _copy(tmp_path, text) == (copied, [])
    yaml.compose(copied)


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("encryptionsalt: v1:x\nconfig:\n  a:b: no\n",
         'encryptionsalt: "v1:own"\nconfig:\n  a:b: no\n'),
        ("--- {config: {a:b: no}}", '--- {encryptionsalt: "v1:own", config: {a:b: no}}'),
        ("---\n  config:\n    a: no\n",
         '---\n  encryptionsalt: "v1:own"\n  config:\n    a: no\n'),
    ],
)  # fmt: skip
def test_the_sandboxs_own_salt_stays(tmp_path: Path, text: str, copied: str) -> None:
    earlier = "config: {a:b: old}\nencryptionsalt: v1:own\n"

    assert _copy(tmp_path, text, earlier)[0] == copied
    assert yaml.safe_load(copied)["encryptionsalt"] == "v1:own"


def test_a_broken_earlier_copy_is_replaced(tmp_path: Path) -> None:
    assert _copy(tmp_path, "config: {}\n", earlier="config: [") == ("config: {}\n", [])


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("config:\n  k:p: true # on\n  k:t: 12:00\n", "config:\n  k:p: false # on\n  k:t: 12:00\n"),
        ("config:\n  k:t: 12:00\n", "config:\n  k:p: false\n  k:t: 12:00\n"),
        ("config: {k:p: true, k:t: 12:00}", "config: {k:p: false, k:t: 12:00}"),
        ("config: {k:t: 12:00}\n", "config: {k:p: false, k:t: 12:00}\n"),
        ("config: {}\n", "config: {k:p: false, }\n"),
        ("config:\n", "config: {k:p: false}\n"),
        ("encryptionsalt: s\n", "config: {k:p: false}\nencryptionsalt: s\n"),
    ],
)
def test_lifting_a_protection_changes_no_other_setting(
    tmp_path: Path, text: str, changed: str
) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(text)

    stacks.set_value(file, "k:p", False)

    assert file.read_text() == changed
    assert yaml.safe_load(changed)["config"]["k:p"] is False


@pytest.mark.parametrize("spelt", ["my-ai:p", "spotproof:p", "p"])
def test_a_setting_is_found_in_a_project_of_another_name(tmp_path: Path, spelt: str) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(f"config:\n  {spelt}: true\n  other:p: true\n")

    assert stacks.value(file, "my-ai:p") == "true"
    stacks.set_value(file, "my-ai:p", False)

    assert file.read_text() == f"config:\n  {spelt}: false\n  other:p: true\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"config:\n  a: [\n", "line 3: this is no YAML: "),
        (b"config: {}\n---\nconfig: {}\n", "line 2: this is no YAML: "),
        (b"config:\n  a: \x07\n", "line 2: this is no YAML: special characters"),
        (b"config:\n  a: \xff\xfe\n", "line 2: this is no UTF-8"),
        (b"config:\n  a: &a\n    b: [*a]\n", "line 3: this is no YAML: an anchor's value holds"),
        (b"config:\n  a: " + b"[" * 5000, "nested too deeply"),
        (b"# a list\n- config\n", "line 2: a stack file is a mapping"),
        (b"", "line 1: a stack file is a mapping"),
    ],
)
def test_a_file_that_is_no_stack_file_is_named_with_its_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_bytes(content)

    with pytest.raises(stacks.UnreadableStackFileError) as caught:
        stacks.copy_without_secrets(file, tmp_path / "copy.yaml")

    assert str(file) in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "copy.yaml").exists()


@pytest.mark.parametrize(
    "stack",
    ["a/../../x/dev", "org/dev", "..", ".", "", "/dev", "dev\n", "d v", "../dev", "dev/", "dév"],
)
def test_only_a_short_name_becomes_part_of_a_path(tmp_path: Path, stack: str) -> None:
    with pytest.raises(stacks.StackNameError):
        stacks.stack_file(stack)
    with pytest.raises(stacks.StackNameError):
        rehearsal_sandbox(stack)
    with pytest.raises(stacks.StackNameError):
        mirrored_stack_file(Sandbox(tmp_path), stack)


@pytest.mark.parametrize("stack", ["prod", "acme/prod", "acme/spotproof/prod"])
def test_a_real_stack_may_be_qualified(stack: str) -> None:
    assert stacks.short_name_of_real(stack) == "prod"


@pytest.mark.parametrize("stack", ["a/b/c/prod", "acme//prod", "acme/../prod", "/prod", "acme/"])
def test_a_qualified_name_has_an_organization_and_a_project(stack: str) -> None:
    with pytest.raises(stacks.StackNameError, match="org/project/stack"):
        stacks.short_name_of_real(stack)


def test_a_second_rehearsal_of_a_stack_leaves_the_first_alone(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path / "dev")
    sandbox.cloud_state.parent.mkdir()
    sandbox.cloud_state.write_text("the first's")

    with only_run(sandbox.folder, "a rehearsal"), pytest.raises(BusyError, match="'dev' is runn"):
        rehearse("dev", ENGINE, sandbox)

    assert sandbox.cloud_state.read_text() == "the first's"


@pytest.mark.parametrize(
    ("command", "stack", "folder"),
    [
        ("rehearse", "dev", "rehearsal/dev"),
        ("up", "sandbox", "sandbox"),
        ("refresh", "sandbox", "sandbox"),
        ("destroy", "sandbox", "sandbox"),
    ],
)
def test_a_command_on_a_busy_sandbox_ends_with_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: str,
    stack: str,
    folder: str,
) -> None:
    monkeypatch.setattr("sandbox.emulated.GENERATED", tmp_path)
    monkeypatch.setattr("sandbox.__main__.ensure", lambda: ENGINE)

    with only_run(tmp_path / folder, "the first"):
        holder = (tmp_path / f"{folder}.lock").read_text()
        code = main([command, "--stack", stack])

    error = capfd.readouterr().err
    assert code == 1
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert f"is running (process {holder})" in error


def test_a_sandbox_is_free_after_a_run(tmp_path: Path) -> None:
    runs = 0
    for _ in range(2):
        with only_run(tmp_path / "dev", "a rehearsal"):
            runs += 1
    assert runs == 2
