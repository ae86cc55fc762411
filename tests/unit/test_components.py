"""What the components declare, and what they refuse before anything is declared."""

from typing import Any

import pulumi
import pytest

import spotproof
from spotproof_gke.problems import ProblemsError
from tests.unit.declared import Declared, declare, only

PROJECT = "spotproof-test"
CLUSTER: dict[str, Any] = {
    "project": PROJECT,
    "region": "us-central1",
    "network_id": "vpc",
    "subnetwork_id": "subnetwork",
}
POOL: dict[str, Any] = {
    "project": PROJECT,
    "cluster": "train",
    "cluster_location": "us-central1",
    "node_service_account": "nodes@spotproof-test.iam.gserviceaccount.com",
}
SPOT: dict[str, Any] = {**POOL, "machine_type": "g2-standard-8", "max_nodes": 4}
BUCKET: dict[str, Any] = {
    "project": PROJECT,
    "cluster_name": "train",
    "cluster_location": "us-central1-a",
}


def _cluster(**more: Any) -> Declared:
    declared = declare(lambda: spotproof.GkeCluster("train", {**CLUSTER, **more}))  # type: ignore
    return only(declared, "gcp:container/cluster:Cluster")


def _spot_pool(**more: Any) -> Declared:
    declared = declare(lambda: spotproof.SpotGpuPool("l4", {**SPOT, **more}))  # type: ignore
    return only(declared, "gcp:container/nodePool:NodePool")


def _refusal(component: Any, args: dict[str, Any]) -> str:
    with pytest.raises(ProblemsError) as caught:
        declare(lambda: component("it", args))
    return str(caught.value)


class TestNetwork:
    def test_private_nodes_get_a_way_out(self) -> None:
        declared = declare(
            lambda: spotproof.Network("net", {"project": PROJECT, "region": "us-central1"})
        )
        router = only(declared, "gcp:compute/router:Router")
        nat = only(declared, "gcp:compute/routerNat:RouterNat")
        assert nat.props["router"] == router.props["name"]
        assert router.props["region"] == nat.props["region"] == "us-central1"

    def test_overlapping_and_misshapen_ranges_are_named_together(self) -> None:
        text = _refusal(
            spotproof.Network,
            {
                "project": PROJECT,
                "region": "us-central1",
                "nodes_cidr": "10.4.0.0/16",
                "services_cidr": "10.8.0.1/20",
            },
        )
        assert "nodes_cidr = '10.4.0.0/16': this overlaps pods_cidr 10.4.0.0/14" in text
        assert "services_cidr = '10.8.0.1/20'" in text


class TestGkeCluster:
    def test_the_default_pool_is_removed_and_no_pool_is_inline(self) -> None:
        props = _cluster().props
        assert props["removeDefaultNodePool"] is True
        assert props["initialNodeCount"] == 1
        assert not {"nodePools", "nodeConfig", "enableAutopilot", "nodeVersion"} & set(props)

    def test_it_is_private_and_reached_by_its_dns_name(self) -> None:
        props = _cluster().props
        assert props["privateClusterConfig"] == {"enablePrivateNodes": True}
        endpoints = props["controlPlaneEndpointsConfig"]
        assert endpoints["dnsEndpointConfig"]["allowExternalTraffic"] is True
        assert endpoints["ipEndpointsConfig"]["enabled"] is False

    def test_it_is_protected_unless_told_otherwise(self) -> None:
        assert _cluster().props["deletionProtection"] is True
        assert _cluster(deletion_protection=False).props["deletionProtection"] is False

    def test_auto_provisioning_left_out_is_said_to_be_off(self) -> None:
        assert _cluster().props["clusterAutoscaling"]["enabled"] is False

    def test_flex_start_accelerators_each_get_a_limit_beside_cpu_and_memory(self) -> None:
        scaling = _cluster(
            auto_provisioning={
                "accelerators": {"nvidia-tesla-a100": 8, "nvidia-h100-80gb": 16},
                "max_vcpus": 512,
                "max_memory_gb": 4096,
            }
        ).props["clusterAutoscaling"]
        limits = {entry["resourceType"]: entry["maximum"] for entry in scaling["resourceLimits"]}
        assert limits == {
            "cpu": 512,
            "memory": 4096,
            "nvidia-h100-80gb": 16,
            "nvidia-tesla-a100": 8,
        }
        assert scaling["autoProvisioningDefaults"]["management"]["autoRepair"] is False
        assert set(scaling["autoProvisioningLocations"]) == {
            f"us-central1-{letter}" for letter in "abcf"
        }

    @pytest.mark.parametrize(
        ("provisioning", "words"),
        [
            ({"accelerators": {}}, "needs a limit for each accelerator"),
            ({"accelerators": {"nvidia-a100-40gb": 8}}, 'GKE calls it "nvidia-tesla-a100"'),
            ({"accelerators": {"nvidia-l4": 0}}, "one node has 1 of them"),
            ({"accelerators": {"nvidia-l4": 1.5}}, "a whole number of GPUs"),
            ({"accelerators": {"nvidia-l4": 4}, "max_vcpus": 2}, "needs 4"),
            ({"accelerators": {"nvidia-l4": 4}, "zones": ["us-central1-f"]}, "not among the zones"),
            ({"accelerators": {"nvidia-h100-mega-80gb": 1}}, "one node has 8 of them"),
            ({"accelerators": {"nvidia-l4": 10**30}}, "100000 is our bound"),
            (
                {
                    "accelerators": {"nvidia-l4": 1, "nvidia-tesla-a100": 1},
                    "zones": ["us-central1-f"],
                },
                "none of these zones has nvidia-l4",
            ),
            ({"accelerators": {"nvidia-gb200": 4}}, "not an accelerator that flex-start offers"),
            ({"accelerators": {"nvidia-l4": 1, "nvidia-b200": 8}}, "no boot disk type fits all"),
        ],
    )
    def test_auto_provisioning_that_gke_would_refuse(
        self, provisioning: dict[str, Any], words: str
    ) -> None:
        given = {"max_vcpus": 4096, "max_memory_gb": 65536, **provisioning}
        assert words in _refusal(spotproof.GkeCluster, {**CLUSTER, "auto_provisioning": given})

    def test_every_problem_is_in_one_error(self) -> None:
        text = _refusal(
            spotproof.GkeCluster,
            {
                **CLUSTER,
                "region": "us-central",
                "cluster_name": "Train",
                "release_channel": "regular",
                "node_pools": [],
                "maintenance_window": {"start_time": "3am"},
            },
        )
        for words in (
            "GkeCluster it: 5 problems",
            "region = 'us-central'",
            "cluster_name = 'Train'",
            'did you mean "REGULAR"?',
            "node_pools",
            "maintenance_window.start_time = '3am'",
        ):
            assert words in text

    def test_two_names_that_are_too_long_for_an_account_stay_different(self) -> None:
        ids = set()
        for name in ("a" * 35 + "1", "a" * 35 + "2"):
            declared = declare(
                lambda name=name: spotproof.GkeCluster("c", {**CLUSTER, "cluster_name": name})  # type: ignore
            )
            account = only(declared, "gcp:serviceaccount/account:Account")
            assert len(account.props["accountId"]) <= 30
            ids.add(account.props["accountId"])
        assert len(ids) == 2


class TestSystemNodePool:
    def test_it_is_on_demand_untainted_without_gpus_and_never_empty(self) -> None:
        declared = declare(lambda: spotproof.SystemNodePool("system", POOL))  # type: ignore
        props = only(declared, "gcp:container/nodePool:NodePool").props
        assert props["autoscaling"]["totalMinNodeCount"] >= 1
        assert not {"spot", "preemptible", "flexStart", "taints", "guestAccelerators"} & set(
            props["nodeConfig"]
        )

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"min_nodes": 0}, "system pods always need a node"),
            ({"min_nodes": 5, "max_nodes": 4}, "not below min_nodes (5)"),
            ({"max_nodes": 3}, "one node in each of its 4 zones"),
            ({"machine_type": "g2-standard-8"}, "have no GPUs or TPUs"),
            ({"machine_type": "ct5lp-hightpu-4t"}, "GPUs or TPUs"),
            ({"machine_type": "E2 junk"}, "no name of a machine type"),
            ({"cluster": ""}, "a text that is not empty"),
            ({"zones": []}, "at least one zone is named"),
            ({"zones": ["us-east1-b"]}, "not among the zones of the cluster"),
        ],
    )
    def test_refusals(self, more: dict[str, Any], words: str) -> None:
        assert words in _refusal(spotproof.SystemNodePool, {**POOL, **more})

    @pytest.mark.parametrize(
        ("least", "most", "each"), [(1, 4, 1), (4, 8, 1), (7, 8, 2), (7, 7, 1)]
    )
    def test_it_starts_as_near_to_its_least_size_as_its_most_allows(
        self, least: int, most: int, each: int
    ) -> None:
        args = {**POOL, "min_nodes": least, "max_nodes": most}
        declared = declare(lambda: spotproof.SystemNodePool("system", args))  # type: ignore
        assert only(declared, "gcp:container/nodePool:NodePool").props["initialNodeCount"] == each


class TestSpotGpuPool:
    def test_only_workloads_that_ask_for_spot_and_gpus_can_land(self) -> None:
        taints = _spot_pool().props["nodeConfig"]["taints"]
        assert {(t["key"], t["value"], t["effect"]) for t in taints} == {
            ("cloud.google.com/gke-spot", "true", "NO_SCHEDULE"),
            ("nvidia.com/gpu", "present", "NO_SCHEDULE"),
        }

    def test_it_starts_empty_and_goes_where_capacity_is(self) -> None:
        props = _spot_pool().props
        assert props["initialNodeCount"] == 0
        assert "nodeCount" not in props
        assert props["autoscaling"] == {
            "totalMinNodeCount": 0,
            "totalMaxNodeCount": 4,
            "locationPolicy": "ANY",
        }

    def test_its_zones_are_named_and_have_the_gpu(self) -> None:
        toronto = _spot_pool(cluster_location="northamerica-northeast2")
        assert toronto.props["nodeLocations"] == [
            "northamerica-northeast2-a",
            "northamerica-northeast2-b",
        ]

    def test_gpu_count_and_driver_follow_the_machine_type(self) -> None:
        config = _spot_pool(machine_type="g2-standard-24").props["nodeConfig"]
        accelerator = config["guestAccelerators"][0]
        assert (accelerator["type"], accelerator["count"]) == ("nvidia-l4", 2)
        assert accelerator["gpuDriverInstallationConfig"]["gpuDriverVersion"] == "DEFAULT"
        assert config["metadata"] == {"disable-legacy-endpoints": "true"}

    def test_its_name_leaves_room_for_the_engines_suffix(self) -> None:
        props = _spot_pool().props
        assert "name" not in props
        text = _refusal(lambda _, args: spotproof.SpotGpuPool("p" * 28, args), SPOT)
        assert "a node pool name without its suffix has 1 to 32" in text

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"machine_type": "g2-standard-9"}, "did you mean"),
            ({"machine_type": "a4x-highgpu-4g"}, "does not sell it as spot, only as"),
            (
                {"machine_type": "a4-highgpu-8g", "cluster_location": "europe-west1"},
                "does not have",
            ),
            ({"zones": ["us-central1-f"]}, "not among the zones of us-central1 with g2-standard-8"),
            ({"zones": ["us-central1-a", "us-central1-a"]}, "each item stands once"),
            ({"disk_type": "pd-standard"}, "can't boot from it"),
            ({"max_nodes": 0}, "this is from 1 to 1000"),
            ({"max_nodes": "4"}, "this is a whole number"),
            ({"max_nodes": True}, "this is a whole number"),
            ({"preemptible": True}, "preemptible"),
            ({"node_labels": {"cloud.google.com/gke-spot": "false"}}, "set labels under this"),
            ({"node_labels": {"topology.kubernetes.io/zone": "x"}}, "set labels under this"),
            ({"node_labels": {"a b": "x"}}, "a label key is"),
            ({"node_labels": {"a": "ü" * 100}}, "a label value is"),
            ({"max_nodes": 10**5000}, "max_nodes = "),
            ({"cluster": None}, "cluster: a text is required"),
            ({"project": "123"}, "a project id has 6 to 30"),
        ],
    )
    def test_refusals(self, more: dict[str, Any], words: str) -> None:
        assert words in _refusal(spotproof.SpotGpuPool, {**SPOT, **more})

    def test_a_number_from_another_language_is_as_good(self) -> None:
        assert _spot_pool(max_nodes=4.0).props["autoscaling"]["totalMaxNodeCount"] == 4

    def test_it_says_what_a_workload_must_select_and_tolerate(self) -> None:
        seen: dict[str, Any] = {}

        def program() -> None:
            pool = spotproof.SpotGpuPool("l4", SPOT)  # type: ignore
            pulumi.Output.all(pool.node_selector, pool.tolerations).apply(
                lambda known: seen.update(selector=known[0], tolerations=known[1])
            )

        declare(program)
        assert seen["selector"] == {
            "cloud.google.com/gke-spot": "true",
            "cloud.google.com/gke-accelerator": "nvidia-l4",
        }
        assert [t["key"] for t in seen["tolerations"]] == ["cloud.google.com/gke-spot"]


class TestCheckpointBucket:
    def _bucket(self, **more: Any) -> list[Declared]:
        return declare(lambda: spotproof.CheckpointBucket("ckpt", {**BUCKET, **more}))  # type: ignore

    def test_it_lies_in_the_region_of_its_cluster(self) -> None:
        props = only(self._bucket(), "gcp:storage/bucket:Bucket").props
        assert props["location"] == "US-CENTRAL1"
        assert props["labels"] == {
            "spotproof-role": "checkpoints",
            "spotproof-cluster": "train",
            "spotproof-cluster-location": "us-central1-a",
        }

    def test_its_settings_are_stated_not_inherited(self) -> None:
        props = only(self._bucket(), "gcp:storage/bucket:Bucket").props
        assert props["uniformBucketLevelAccess"] is True
        assert props["hierarchicalNamespace"] == {"enabled": True}
        assert props["publicAccessPrevention"] == "enforced"
        assert props["softDeletePolicy"] == {"retentionDurationSeconds": 0}
        assert props["forceDestroy"] is False

    def test_a_workload_gets_access_without_a_key_or_a_google_account(self) -> None:
        declared = self._bucket(workloads=["training/trainer"])
        grants = [r for r in declared if r.type == "gcp:storage/bucketIAMMember:BucketIAMMember"]
        assert {g.props["role"] for g in grants} == {
            "roles/storage.objectUser",
            "roles/storage.legacyBucketReader",
        }
        (member,) = {g.props["member"] for g in grants}
        assert member == (
            "principal://iam.googleapis.com/projects/123456789012/locations/global/"
            "workloadIdentityPools/spotproof-test.svc.id.goog/subject/ns/training/sa/trainer"
        )

    def test_workloads_with_confusable_names_do_not_collide(self) -> None:
        declared = self._bucket(workloads=["a-b/c", "a/b-c"])
        grants = [r for r in declared if r.type == "gcp:storage/bucketIAMMember:BucketIAMMember"]
        assert len({g.name for g in grants}) == 4

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"region": "us-east1"}, "us-central1"),
            ({"region": "US"}, "multi-region"),
            ({"region": "nam4"}, "dual-region"),
            ({"cluster_location": "us-centrall1"}, "did you mean"),
            ({"soft_delete_seconds": 3600}, "0, or 604800 to 7776000"),
            ({"workloads": ["trainer"]}, "NAMESPACE/NAME"),
            ({"bucket_name": "Checkpoints"}, "a bucket name has"),
            ({"labels": {"spotproof-cluster": "x"}}, "the component sets this label itself"),
            ({"labels": {"Env": "x"}}, "a label key starts with a lower-case letter"),
            ({"cluster_project": "another-project"}, "cluster_project_number"),
            ({"cluster_project": "Other Proj!"}, "cluster_project = 'Other Proj!'"),
            ({"cluster_project_number": "abc"}, "digits alone"),
            ({"bucket_name": "my-google-checkpoints"}, "goog"),
        ],
    )
    def test_refusals(self, more: dict[str, Any], words: str) -> None:
        assert words in _refusal(spotproof.CheckpointBucket, {**BUCKET, **more})

    def test_the_same_region_may_be_stated(self) -> None:
        assert only(self._bucket(region="us-central1"), "gcp:storage/bucket:Bucket")


@pytest.mark.parametrize("machine_type", [5, pulumi.Output.from_input("x"), "g2"])
def test_a_mistake_is_not_reported_again_as_another(machine_type: Any) -> None:
    args = {**SPOT, "cluster_location": "us-west2", "machine_type": machine_type}
    assert "SpotGpuPool it: 1 problem\n" in _refusal(spotproof.SpotGpuPool, args)


def test_a_refusal_ends_a_program_without_a_traceback() -> None:
    with pytest.raises(pulumi.RunError) as caught:
        spotproof.SpotGpuPool("l4", {**SPOT, "max_nodes": 0})  # type: ignore
    assert isinstance(caught.value, pulumi.InputPropertiesError)
    assert [e["property_path"] for e in caught.value.errors or []] == ["maxNodes"]


def test_a_first_preview_declares_what_an_update_declares() -> None:
    def program() -> None:
        cluster = spotproof.GkeCluster("train", CLUSTER)  # type: ignore
        nodes = {
            **SPOT,
            "cluster": cluster.cluster_id,
            "node_service_account": cluster.node_service_account,
        }
        spotproof.SpotGpuPool("l4", nodes)  # type: ignore
        spotproof.CheckpointBucket("ckpt", {**BUCKET, "workloads": ["a/b"]})  # type: ignore

    preview = {(d.type, d.name) for d in declare(program, preview=True)}
    assert preview == {(d.type, d.name) for d in declare(program)}


def test_a_new_role_or_nat_never_looks_like_a_new_cluster_or_pool() -> None:
    """An account or subnetwork unknown in a preview would show as their replacement."""

    def program() -> None:
        network = spotproof.Network("net", {"project": PROJECT, "region": "us-central1"})
        args = {**CLUSTER, "subnetwork_id": network.subnetwork_id}
        cluster = spotproof.GkeCluster("train", args)  # type: ignore
        spotproof.SystemNodePool(
            "system",
            {**POOL, "node_service_account": cluster.node_service_account},  # type: ignore
        )

    def answer(token: str, name: str, inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        new = token in ("gcp:compute/routerNat:RouterNat", "gcp:projects/iAMMember:IAMMember")
        return None if new else f"{name}-id", {"email": "nodes@x.iam.gserviceaccount.com", **inputs}

    declared = declare(program, preview=True, answer=answer)
    cluster = only(declared, "gcp:container/cluster:Cluster")
    pool = only(declared, "gcp:container/nodePool:NodePool")
    assert cluster.props["subnetwork"] == "net-subnetwork-id"
    assert pool.props["nodeConfig"]["serviceAccount"] == "nodes@x.iam.gserviceaccount.com"
