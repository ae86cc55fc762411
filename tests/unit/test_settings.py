"""The stack file is judged as a whole, and says everything in one error."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

import settings
import stack_file
from spotproof_gke.problems import ProblemsError

STACKS = Path(__file__).parents[2] / "stacks"

RIGHT: dict[str, Any] = {
    "gcp:project": "spotproof-test",
    "spotproof:region": "us-central1",
    "spotproof:clusterName": "train",
    "spotproof:deletionProtection": False,
    "spotproof:spotPools": {"l4": {"machineType": "g2-standard-8", "maxNodes": 4}},
    "spotproof:autoProvisioning": {
        "accelerators": {"nvidia-l4": 8},
        "maxVcpus": 128,
        "maxMemoryGb": 512,
    },
    "spotproof:checkpoints": {"workloads": ["training/trainer"]},
}


def _error(**changes: Any) -> str:
    values = copy.deepcopy(RIGHT)
    for key, value in changes.items():
        values["gcp:project" if key == "project" else f"spotproof:{key}"] = value
    with pytest.raises(ProblemsError) as caught:
        settings.load(values, "stacks/Pulumi.test.yaml")
    return str(caught.value)


@pytest.mark.parametrize("path", sorted(STACKS.glob("Pulumi.*.yaml")), ids=lambda p: p.name)
def test_every_stack_of_the_project_is_right(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings.main([str(path)]) == 0
    assert "right." in capsys.readouterr().out


def test_a_right_configuration_becomes_the_components_arguments() -> None:
    loaded = settings.load(RIGHT, "test")
    assert loaded.sections["spot_pools"] == {
        "l4": {"machine_type": "g2-standard-8", "max_nodes": 4}
    }
    assert loaded.cluster["auto_provisioning"]["max_vcpus"] == 128
    assert loaded.deletion_protection is False


def test_protection_is_on_unless_a_stack_says_otherwise() -> None:
    values = {k: v for k, v in RIGHT.items() if k != "spotproof:deletionProtection"}
    assert settings.load(values, "test").deletion_protection is True


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"project": "123456"}, "gcp:project = '123456': a project id"),
        ({"project": None}, "gcp:project: a text is required"),
        ({"region": "us-centrall1"}, 'did you mean "us-central1"?'),
        ({"region": "us-central1-a"}, "a zone is not a region"),
        ({"clusterName": None}, "clusterName: "),
        ({"deletionProtection": "off"}, "deletionProtection = 'off': this is true or false"),
        ({"releaseChannel": "stable"}, 'did you mean "STABLE"?'),
        ({"spotPool": {}}, 'did you mean "spotPools"?'),
        ({"max_nodes": 1}, "max_nodes"),
        ({"spotPools": []}, "this is a mapping from a name to its settings"),
        ({"spotPools": {"l4": None}}, "spotPools.l4.machineType: a text is required"),
        (
            {"spotPools": {"l4": {"machine_type": "g2-standard-8", "maxNodes": 1}}},
            "spotPools.l4.machine_type = '…': there is no such setting; did"
            ' you mean "machineType"?',
        ),
        ({"spotPools": {"l4": {"project": "x"}}}, "spotPools.l4.project = '…': there is no such"),
        ({"spotPools": {"L_4": {}}}, "spotPools.L_4 = 'spot-L_4-pool': a node pool name"),
        ({"checkpoints": {"region": "us-east1"}}, "checkpoints.region = 'us-east1'"),
        ({"network": {"podsCidr": "10.0.0.0/14"}}, "network.nodesCidr"),
        ({"systemPool": {"minNodes": 0}}, "systemPool.minNodes = 0: system pods always need"),
        (
            {
                "autoProvisioning": {
                    "accelerators": {"nvidia-l4": 2},
                    "maxVcpus": 8,
                    "maxMemoryGb": 512,
                }
            },
            "autoProvisioning.accelerators.nvidia-l4 = 2: this limit holds for hand-made pools too",
        ),
    ],
)
def test_a_mistake_is_named_by_its_key_with_value_rule_and_mend(
    changes: dict[str, Any], words: str
) -> None:
    text = _error(**changes)
    assert words in text
    assert text.startswith("stacks/Pulumi.test.yaml: ")


def test_a_key_that_the_author_chose_is_named_as_it_stands() -> None:
    assert "labels.My_own_key = 'x'" in _error(labels={"My_own_key": "x"})
    assert "checkpoints.labels.My_key = 'x'" in _error(checkpoints={"labels": {"My_key": "x"}})


def test_one_mistake_is_one_problem() -> None:
    assert "1 problem\n" in _error(region="us-centrall1")
    assert "1 problem\n" in _error(project="X")
    assert "1 problem\n" in _error(clusterName="Train")


def test_all_mistakes_are_in_one_error() -> None:
    text = _error(region="nowhere", releaseChannel="x", spotPools={"l4": {"maxNodes": -1}})
    for key in ("region = ", "releaseChannel = ", "spotPools.l4.machineType", "l4.maxNodes = -1"):
        assert key in text


def test_an_encrypted_setting_is_refused_without_its_value(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(
        "config:\n  spotproof:region: {secure: v1:hush}\n  gcp:project: spotproof-test\n"
    )
    values, secrets = stack_file.read(path)
    with pytest.raises(ProblemsError) as caught:
        settings.load(values, str(path), secrets)
    assert "region = 'a secret'" in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "config: [", "- a", "config: 3", "\x00"])
def test_a_file_that_is_no_stack_file_is_an_error_not_a_traceback(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(text)
    assert settings.main([str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {path}")


def test_a_missing_file_is_an_error_that_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert settings.main(["stacks/Pulumi.nowhere.yaml"]) == 1
    assert "Pulumi.nowhere.yaml: No such file" in capsys.readouterr().err


def test_the_file_and_the_engine_give_the_same_values(tmp_path: Path) -> None:
    document = {"config": {**RIGHT, "spotproof:deletionProtection": False}}
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(yaml.safe_dump(document))
    from_file, _ = stack_file.read(path)
    engine_spelling = {
        "gcp:project": "spotproof-test",
        "spotproof:deletionProtection": "false",
        "spotproof:spotPools": '{"l4":{"machineType":"g2-standard-8","maxNodes":4}}',
    }
    for key, value in stack_file.parsed(engine_spelling).items():
        assert from_file[key] == value


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("a: 1\n  a: 2", "'a' stands twice (line 3)"),
        ("spotproof:region: x\n  region: y", "a setting stands twice"),
        ("x: !!int abc", "a value does not fit its !!tag"),
        ("x: &a {x: *a}", "an alias never holds itself"),
        ("x: " + "[" * 3000 + "]" * 3000, "nested deeper than 40 levels"),
        ("x: &a [1]\n  y: [" + "*a, " * 21 + "1]", "at most 20"),
        ("systemPool: {minNodes: " + "9" * 5000 + "}", "systemPool.minNodes = inf"),
        ("systemPool: {minNodes: 0x" + "f" * 9000 + "}", "systemPool.minNodes = 1157920892373"),
        ("labels: '" + "[" * 100_000 + "'", "labels = '[[["),
        ("? [1, 2]\n  : 3", "does not fit"),
        ("spotprof:region: us-central1", 'did you mean "spotproof:region"?'),
    ],
)
def test_a_hostile_file_is_one_short_error(
    config: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(f"config:\n  {config}\n")
    assert settings.main([str(path)]) == 1
    text = capsys.readouterr().err
    assert words in text
    assert len(text) < 3000


@pytest.mark.parametrize("project", ["spotproof", "my-ai", "spotproof-2", "gcp", "dev.Team_1"])
def test_settings_load_whatever_the_project_is_called(project: str) -> None:
    assert settings.load(RIGHT, "test", project=project).region == "us-central1"


def test_the_name_of_the_project_may_stand_before_a_setting() -> None:
    """`pulumi config set region` writes it there."""
    values = {key.replace("spotproof:", "my-ai:"): value for key, value in RIGHT.items()}

    loaded = settings.load(values, "test", project="my-ai")

    assert loaded == settings.load(RIGHT, "test")


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ({"my-ai:region": "europe-west4"}, "this stands twice, as my-ai:region and spotproof:reg"),
        ({"my-ai:regoin": "europe-west4"}, "regoin = '…': there is no such setting"),
        ({"spotprof:region": "us-central1"}, 'did you mean "spotproof:region"?'),
    ],
)
def test_settings_under_another_name_are_judged_like_all(added: dict[str, Any], words: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        settings.load({**RIGHT, **added}, "test", project="my-ai")
    assert words in str(caught.value)


def test_a_secret_under_the_name_of_the_project_is_refused() -> None:
    values = {**RIGHT, "my-ai:labels": "hush", "spotproof:labels": {}}
    with pytest.raises(ProblemsError) as caught:
        settings.load(values, "test", ["my-ai:labels"], "my-ai")
    assert "labels = 'a secret'" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_project_given_as_a_secret_is_not_shown() -> None:
    values = {**RIGHT, "gcp:project": "HUSH hush"}
    with pytest.raises(ProblemsError) as caught:
        settings.load(values, "test", ["gcp:project"])
    assert "gcp:project = 'a secret'" in str(caught.value)
    assert "hush" not in str(caught.value).lower()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:00", "12:00"),
        ("1e1", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", 1000),
        ("=", "="),
        ("2024-01-01", "2024-01-01"),
        ("yes", "yes"),
        ("~", None),
        ('"7"', "7"),
    ],
)
def test_a_value_is_read_as_the_engine_reads_it(text: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(f"config:\n  spotproof:labels: {{key: {text}}}\n")
    read = stack_file.read(path)[0]["spotproof:labels"]["key"]
    assert read == value
    assert isinstance(read, str) == isinstance(value, str)


def test_a_key_without_a_namespace_is_the_programs_own(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text("config:\n  deletionProtection: false\n")
    assert stack_file.read(path)[0] == {"spotproof:deletionProtection": False}


@pytest.mark.parametrize("word", ["off", "no", "on", "yes"])
def test_words_that_old_yaml_took_for_booleans_stay_texts(word: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(f"config:\n  spotproof:deletionProtection: {word}\n")
    assert stack_file.read(path)[0] == {"spotproof:deletionProtection": word}
