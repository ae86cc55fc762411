"""What a component made under its old name is kept by the new one."""

from pathlib import Path

from tests.cloud import plain
from tests.engine.handmade import PROJECT
from tests.engine.support import emulated_project

BEFORE = """
import pulumi
from pulumi_gcp import storage

class Store(pulumi.ComponentResource):
    def __init__(self, name, opts=None):
        super().__init__("spotproof:index:Store", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        storage.Bucket(f"{name}-bucket", location="EUROPE-WEST4", opts=child)

Store("it")
"""
AFTER = BEFORE.replace("Store", "Place").replace(
    "None, opts)", 'None, formerly(opts, "spotproof:index:Store"))'
)


def test_a_renamed_component_keeps_what_the_old_one_made(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, BEFORE, {"gcp:project": PROJECT})
    project.up().check()
    (bucket,) = project.cloud()[plain.BUCKET]

    project.write(f"from spotproof.deprecation import formerly\n{AFTER}")
    project.up("--expect-no-changes").check()

    assert list(project.cloud()[plain.BUCKET]) == [bucket]
    urn = project.resource(plain.BUCKET)["urn"]
    assert "spotproof:index:Place$gcp:storage/bucket:Bucket" in urn
