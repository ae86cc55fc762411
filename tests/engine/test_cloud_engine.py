"""The emulated cloud behind the real engine: what a plain pulumi-gcp program can rely on."""

from pathlib import Path

from sandbox.cloud.store import Store
from tests.engine.support import EmulatedProject, emulated_project

BUCKET = "gcp:storage/bucket:Bucket"
NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
CONFIG = {"gcp:project": "acme", "gcp:region": "europe-west4"}
PROGRAM = """
import pulumi, pulumi_gcp as gcp
network = gcp.compute.Network("network", auto_create_subnetworks=False)
subnetwork = gcp.compute.Subnetwork(
    "subnetwork", name="sub", network=network.id, ip_cidr_range="10.0.0.0/20",
)
bucket = gcp.storage.Bucket("bucket", name="acme-data", location="{location}", labels={labels})
pulumi.export("url", bucket.url)
pulumi.export("network", network.name)
"""
YAML = """
resources:
  bucket:
    type: gcp:storage:Bucket
    properties: {name: acme-data, location: europe-west4}
outputs:
  url: ${bucket.url}
"""
INVALID = """
import pulumi_gcp as gcp
gcp.container.NodePool(
    "pool", cluster="none", location="europe-west4", autoscaling={"location_policy": "SPREAD"},
)
"""


def program(location: str = "europe-west4", labels: dict[str, str] | None = None) -> str:
    return PROGRAM.format(location=location, labels=labels or {})


def things(project: EmulatedProject) -> Store:
    """The cloud, as another process finds it."""
    return Store(project.sandbox.folder)


def test_resources_are_created_updated_replaced_and_deleted(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, program(), CONFIG)
    preview = project.preview().check()
    assert "4 to create" in preview.text
    assert things(project).everything() == []

    project.up().check()
    outputs = project.outputs()
    assert outputs["url"] == "gs://acme-data"
    assert outputs["network"].startswith("network-")
    assert project.resource(BUCKET)["outputs"]["location"] == "EUROPE-WEST4"
    assert len(things(project).everything()) == 3

    project.write(program(labels={"team": "vision"}))
    assert "1 updated" in project.up().check().text
    project.write(program("us-central1", {"team": "vision"}))
    assert "1 replaced" in project.up().check().text
    assert project.outputs()["network"] == outputs["network"]
    project.preview("--expect-no-changes").check()

    project.destroy().check()
    assert things(project).everything() == []
    methods = [request["method"] for request in project.requests()]
    assert methods.count("create") == 4
    assert methods.count("delete") == 4


def test_drift_is_seen_and_mended_and_an_orphan_can_be_imported(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, program(), CONFIG)
    project.up().check()
    project.refresh("--expect-no-changes").check()

    with (cloud := things(project)).locked():
        cloud.remove(BUCKET, "acme-data")
    refreshed = project.refresh().check()
    assert "1 deleted" in refreshed.text
    assert "1 created" in project.up().check().text

    name = project.outputs()["network"]
    project.run("state", "delete", "--yes", project.resource(SUBNETWORK)["urn"]).check()
    options = ["--yes", "--skip-preview", "--protect=false", "--generate-code=false"]
    identifier = "projects/acme/regions/europe-west4/subnetworks/sub"
    project.run("import", *options, SUBNETWORK, "subnetwork", identifier).check()
    project.preview("--expect-no-changes").check()
    assert project.resource(NETWORK)["outputs"]["name"] == name


def test_a_yaml_program_can_declare_the_emulated_types(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, YAML, CONFIG, runtime="yaml")
    project.up().check()
    assert project.outputs() == {"url": "gs://acme-data"}


def test_a_refusal_names_the_resource_and_the_property(tmp_path: Path) -> None:
    project = emulated_project(tmp_path, INVALID, CONFIG)
    preview = project.preview()
    assert not preview.ok
    assert 'expected autoscaling.0.location_policy to be one of ["BALANCED" "ANY"]' in preview.text
    assert "Examine values at 'pool.autoscaling.locationPolicy'" in preview.text
    assert "Traceback" not in preview.text
