"""Policy packs and component providers in Python on our own language host."""

from pathlib import Path

from sandbox.paths import VENV
from tests.engine.own_host import project_on_own_host

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

def no_secret_word(args, report_violation):
    for resource in args.resources:
        if resource.resource_type == "pulumi:pulumi:Stack" and "bad" in resource.name:
            report_violation(f"{resource.name} is a bad name", resource.urn)

PolicyPack(
    name="names",
    enforcement_level=EnforcementLevel.MANDATORY,
    policies=[
        StackValidationPolicy(
            name="no-bad-name", description="Names are not bad.", validate=no_secret_word
        )
    ],
)
"""

COMPONENT = """
from typing import TypedDict

import pulumi
from pulumi.provider.experimental import component_provider_host


class GreetingArgs(TypedDict):
    name: pulumi.Input[str]


class Greeting(pulumi.ComponentResource):
    text: pulumi.Output[str]

    def __init__(self, name: str, args: GreetingArgs, opts: pulumi.ResourceOptions | None = None):
        super().__init__("greetings:index:Greeting", name, {}, opts)
        self.text = pulumi.Output.format("hello {0}", args["name"])
        self.register_outputs({"text": self.text})


component_provider_host(name="greetings", components=[Greeting])
"""


def _folder(path: Path, manifest: str, program: str, virtualenv: str = str(VENV)) -> Path:
    path.mkdir()
    runtime = f"runtime:\n  name: python\n  options:\n    virtualenv: {virtualenv}\n"
    (path / manifest).write_text(runtime)
    (path / "__main__.py").write_text(program)
    return path


def test_a_policy_pack_stops_a_preview_and_lets_a_good_program_pass(tmp_path):
    pack = _folder(tmp_path / "pack", "PulumiPolicy.yaml", PACK)
    bad = project_on_own_host(tmp_path / "bad", "", packs=[pack], pulumi_yaml={"name": "bad"})
    good = project_on_own_host(tmp_path / "good", "", packs=[pack], pulumi_yaml={"name": "good"})

    refused = bad.preview()

    assert not refused.ok
    assert "bad-test is a bad name" in refused.text
    assert "Traceback" not in refused.text
    good.preview().check()


def test_an_error_in_a_policy_pack_is_shown(tmp_path):
    pack = _folder(tmp_path / "pack", "PulumiPolicy.yaml", "raise ValueError('pack is broken')\n")

    run = project_on_own_host(tmp_path / "program", "", packs=[pack]).preview()

    assert not run.ok
    assert "pack is broken" in run.text


def test_a_pack_whose_virtualenv_is_missing_names_it(tmp_path):
    pack = _folder(tmp_path / "pack", "PulumiPolicy.yaml", PACK, virtualenv="nowhere")

    run = project_on_own_host(tmp_path / "program", "", packs=[pack]).preview()

    assert not run.ok
    assert str(pack / "nowhere" / "bin" / "python") in run.text


def test_a_yaml_program_uses_a_component_written_in_python(tmp_path):
    component = _folder(tmp_path / "greetings", "PulumiPlugin.yaml", COMPONENT)
    program = f"""
packages:
  greetings: {component}
resources:
  first:
    type: greetings:index:Greeting
    properties:
      name: world
outputs:
  text: ${{first.text}}
"""
    project = project_on_own_host(tmp_path / "program", program, runtime="yaml")

    project.up().check()

    assert project.outputs() == {"text": "hello world"}
    project.up("--expect-no-changes").check()
    project.destroy().check()
