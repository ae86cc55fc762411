"""The picture of a stack of this repository, for the first screen of README.md."""

import json
import os
import runpy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from spotproof_gke.picture import svg
from spotproof_gke.picture.program import Program
from spotproof_gke.picture.survey import survey
from spotproof_gke.program_documents import PREVIEW
from spotproof_gke.rules.clusters import CLUSTER
from spotproof_gke.rules.finding import Resource
from tests.unit.declared import Declared, declare

ROOT = Path(__file__).resolve().parents[1]
STACK = "prod"


MARKUP = """\
<picture>
  <source media="(max-width: 600px)" srcset="docs/pictures/overview-narrow.svg">
  <img src="docs/pictures/overview.svg" alt="The stack prod: one cluster with an on-demand pool \
that is the home of system pods, tainted Spot GPU pools, auto-provisioning within limits, and \
a checkpoint bucket in the region of the cluster">
</picture>"""
"""The picture as README shows it."""


def pictures() -> dict[str, str]:
    """The picture by the name of its file, wide and narrow."""
    overview = survey(_program(STACK))
    return {
        "overview.svg": svg.draw(overview, svg.WIDE),
        "overview-narrow.svg": svg.draw(overview, svg.NARROW),
    }


def _program(stack: str) -> Program:
    """A stack of this repository as its program declares it, without an engine."""
    content = (ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    config = yaml.safe_load(content)["config"]
    texts = {key: v if isinstance(v, str) else json.dumps(v) for key, v in config.items()}
    program = str(ROOT / "infra" / "__main__.py")
    with patch.dict(os.environ, PULUMI_CONFIG=json.dumps(texts)):
        declared = declare(
            lambda: runpy.run_path(program, run_name="__main__"), answer=_made, asked=[]
        )
    # Resources are declared in the order in which their inputs are known, which differs.
    ordered = sorted(declared, key=lambda each: (each.type, each.name))
    return Program(PREVIEW, [_resource(stack, each) for each in ordered])


def _made(token: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The id and outputs of a resource, as far as a picture shows them."""
    address = f"{inputs.get('accountId', name)}@example.iam.gserviceaccount.com"
    outputs = {
        "name": name,
        "email": address,
        "member": f"serviceAccount:{address}",
        "url": f"gs://{inputs.get('name', name)}",
        "projectNumber": 123456789012,
        **inputs,
    }
    where = f"projects/{inputs.get('project')}/locations/{inputs.get('location')}"
    return (f"{where}/clusters/{outputs['name']}" if token == CLUSTER else name), outputs


def _resource(stack: str, declared: Declared) -> Resource:
    urn = f"urn:pulumi:{stack}::spotproof::{declared.type}::{declared.name}"
    return Resource(declared.type, declared.name, urn, declared.props)
