"""A picture says what is in a stack, and what may run where."""

import copy
from typing import Any

import pytest

from spotproof_gke.audit.evidence import InputError
from spotproof_gke.picture.overview import Cluster, Kind, Lane, Overview, Tone, Verdict
from spotproof_gke.picture.program import program_of
from spotproof_gke.picture.survey import survey
from spotproof_gke.program_documents import document_of
from tests.picture import stacks
from tests.picture.stacks import cluster, plan, pool, resource, state, workload


def overview(document: Any) -> Overview:
    return survey(program_of(document_of("file", document)))


def only_cluster(document: Any) -> Cluster:
    (found,) = overview(document).clusters
    return found


def lanes(document: Any) -> dict[Kind, Lane]:
    found = only_cluster(document).lanes
    return {lane.kind: lane for lane in found}


def names(lane: Lane, *tones: Tone) -> set[str]:
    return {each.name for each in lane.pods if not tones or each.tone in tones}


def test_workloads_stand_with_the_pools_that_let_them_in() -> None:
    found = lanes(stacks.SAFE)

    assert names(found[Kind.SPOT]) == {"pods that tolerate this taint", "Job work/train"}
    assert names(found[Kind.ON_DEMAND]) == {
        "system pods",
        "any other pod",
        "Deployment work/web",
        "Deployment kube-system/dns",
    }
    assert not [each for lane in found.values() for each in lane.pods if each.tone is Tone.WARNING]


def test_a_spot_pool_without_a_taint_warns_of_system_pods() -> None:
    found = lanes(state(cluster(), pool("home"), pool("bare", spot=True)))

    assert found[Kind.SPOT].gate == "no taint: open to every pod"
    assert names(found[Kind.SPOT], Tone.WARNING) == {"system pods", "any other pod"}


@pytest.mark.parametrize(
    ("config", "more", "kind"),
    [
        ({}, {}, Kind.ON_DEMAND),
        ({"spot": True}, {}, Kind.SPOT),
        ({"preemptible": True}, {}, Kind.SPOT),
        ({"flexStart": True}, {}, Kind.FLEX_START),
        ({}, {"queuedProvisioning": {"enabled": True}}, Kind.QUEUED),
        (
            {"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}},
            {},
            Kind.RESERVATION,
        ),
        ({"spot": stacks.HIDDEN}, {}, Kind.UNKNOWN),
    ],
)
def test_every_capacity_has_a_lane_of_its_own(
    config: dict[str, Any], more: dict[str, Any], kind: Kind
) -> None:
    given = pool("some", **config)
    given["inputs"].update(more)
    given["outputs"] = given["inputs"]

    assert set(lanes(state(cluster(), given))) == {kind}


def test_pods_of_a_request_pass_the_taint_of_queued_nodes_and_others_do_not() -> None:
    given = pool("gang")
    given["inputs"]["queuedProvisioning"] = {"enabled": True}
    given["outputs"] = given["inputs"]
    asking = workload(stacks.JOB, "asks", {"nodeSelector": {"cloud.google.com/gke-queued": "true"}})
    found = lanes(state(cluster(), given, asking, workload(stacks.JOB, "plain", {})))

    assert names(found[Kind.QUEUED], Tone.WORK) == {"Job work/asks"}
    assert names(found[Kind.NOWHERE]) == {"Job work/plain"}


def test_pods_that_ask_for_gpus_pass_the_taint_that_gke_gives_gpu_pools() -> None:
    gpus = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    found = only_cluster(
        state(
            cluster(),
            pool("home"),
            pool("l4", machineType="g2-standard-8"),
            workload(stacks.JOB, "train", gpus),
            workload(stacks.JOB, "plain", {}),
        )
    ).lanes

    assert {lane.gate: names(lane, Tone.WORK) for lane in found} == {
        "no taint: open to every pod": {"Job work/train", "Job work/plain"},
        "taint: nvidia.com/gpu": {"Job work/train"},
    }


def test_gke_gives_no_taint_to_gpu_pools_of_a_cluster_without_another_pool() -> None:
    l4, a100 = pool("l4", machineType="g2-standard-8"), pool("a100", machineType="a2-highgpu-1g")
    (lane,) = only_cluster(state(cluster(), l4, a100, workload(stacks.JOB, "plain", {}))).lanes

    assert lane.gate == "no taint: open to every pod"
    assert "Job work/plain" in names(lane)


def test_a_system_workload_that_asks_for_spot_is_a_warning() -> None:
    selector = {"cloud.google.com/gke-spot": "true"}
    spec = {"nodeSelector": selector, "tolerations": [stacks.SPOT_TOLERATION]}
    spot = pool("cheap", taints=[stacks.SPOT_TAINT], spot=True)
    dns = workload(stacks.DEPLOYMENT, "dns", spec, namespace="kube-system")
    found = lanes(state(cluster(), pool("home"), spot, dns))

    assert names(found[Kind.SPOT], Tone.WARNING) == {"Deployment kube-system/dns"}


def test_a_secret_of_the_program_is_not_shown_as_the_cloud_has_it() -> None:
    hidden = resource(stacks.BUCKET, "data", {"name": stacks.HIDDEN, "location": "US"})
    hidden["outputs"] = {"name": stacks.SECRET, "location": "US"}

    (found,) = overview(state(cluster(), hidden)).buckets
    assert found.name == "data"


@pytest.mark.parametrize(
    ("values", "fits"), [(["true"], True), (["false"], False), ([stacks.UNKNOWN], None)]
)
def test_required_affinity_keeps_a_workload_off_a_pool(values: list[str], fits: bool) -> None:
    expression = {"key": "cloud.google.com/gke-spot", "operator": "In", "values": values}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    spec = {"affinity": affinity, "tolerations": [{"operator": "Exists"}]}
    job = workload(stacks.JOB, "picky", spec)
    found = lanes(plan(cluster(), pool("cheap", taints=[stacks.SPOT_TAINT], spot=True), job))

    entry = [each for each in found[Kind.SPOT].pods if each.name == "Job work/picky"]
    assert [each.certain for each in entry] == ([fits is True] if fits is not False else [])


def test_what_fits_no_pool_is_left_to_auto_provisioning() -> None:
    limits = {"enabled": True, "resourceLimits": [{"resourceType": "cpu", "maximum": 64}]}
    wanting = {"nodeSelector": {"cloud.google.com/gke-nodepool": "other"}}
    found = lanes(
        state(
            cluster(clusterAutoscaling=limits),
            pool("home"),
            workload(stacks.JOB, "far", wanting),
        )
    )

    assert "Job work/far" in names(found[Kind.AUTO])
    assert [line for card in found[Kind.AUTO].pools for line in card.lines] == ["64 vCPUs"]


def test_autopilot_is_drawn_by_what_workloads_ask_for() -> None:
    document = state(
        cluster(enableAutopilot=True),
        workload(stacks.JOB, "train", {"nodeSelector": {"cloud.google.com/gke-spot": "true"}}),
        workload(stacks.DEPLOYMENT, "web", {}),
    )
    found = lanes(document)

    assert "Autopilot" in only_cluster(document).about
    assert names(found[Kind.SPOT], Tone.WORK) == {"Job work/train"}
    assert names(found[Kind.ON_DEMAND], Tone.WORK) == {"Deployment work/web"}


def test_buckets_queues_and_identities_are_judged() -> None:
    found = overview(stacks.SAFE)

    assert {each.name: each.verdict for each in found.buckets} == {
        "near": Verdict.MATCH,
        "far": Verdict.MISMATCH,
    }
    assert {each.name: each.verdict for each in found.queues} == {
        "bare": Verdict.MISMATCH,
        "jobs": Verdict.MATCH,
    }
    assert [(each.name, *each.lines) for each in found.identities] == [
        ("work/train", "reads and writes bucket near")
    ]
    assert found.networks == ["shop-net"]


def test_pools_stand_in_the_cluster_that_they_name() -> None:
    found = overview(
        state(cluster("a"), cluster("b"), pool("of-b", of="b"), pool("lost", of="elsewhere"))
    ).clusters

    assert {
        each.name: [card.name for lane in each.lanes for card in lane.pools] for each in found
    } == {"a": [], "b": ["of-b"], "a cluster that is not in this stack": ["lost"]}


def test_in_a_plan_a_pool_is_found_by_what_its_cluster_depends_on() -> None:
    made, given = cluster("a", name=stacks.UNKNOWN), pool("new", of=stacks.UNKNOWN)
    given["depends"] = {"cluster": [made["urn"]]}

    found = overview(plan(made, cluster("b"), given)).clusters

    assert [[c.name for lane in each.lanes for c in lane.pools] for each in found] == [["new"], []]


def test_a_plan_shows_what_will_be() -> None:
    document = plan(cluster(), pool("kept"), pool("gone"))
    document["steps"][2] |= {"op": "delete", "oldState": document["steps"][2].pop("newState")}
    document["changeSummary"] = {"create": 2, "same": 7}
    found = overview(document)

    assert [card.name for lane in found.clusters[0].lanes for card in lane.pools] == ["kept"]
    assert "leaves out 7 unchanged resources; make it with --show-sames" in " ".join(found.notes)


def test_an_update_plan_shows_what_it_makes() -> None:
    made = [cluster(), pool("new", spot=True)]
    plans = {
        each["urn"]: {
            "goal": {"type": each["type"], "custom": True, "inputDiff": {"adds": each["inputs"]}},
            "steps": ["create"],
        }
        for each in made
    }
    found = overview({"manifest": {}, "resourcePlans": plans})

    (lane,) = found.clusters[0].lanes
    assert (lane.kind, [card.name for card in lane.pools]) == (Kind.SPOT, ["new"])
    assert "as the preview plans it" in found.about


def test_daemon_sets_and_charts_are_counted_and_not_drawn() -> None:
    agent = workload("kubernetes:apps/v1:DaemonSet", "agent", {"tolerations": [{}]})
    chart = resource("kubernetes:helm.sh/v3:Release", "keda", {"chart": "keda"})
    found = overview(state(cluster(), pool("home"), agent, chart))

    assert "1 DaemonSet not drawn" in " ".join(found.notes)
    assert "1 Helm release not drawn" in " ".join(found.notes)
    assert "DaemonSet" not in " ".join(p.name for x in found.clusters[0].lanes for p in x.pods)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"steps": "none"}, "neither a plan nor a state"),
        ([], "neither a plan nor a state"),
        ({"kind": "List", "items": []}, "neither a plan nor a state"),
        ({"deployment": {"resources": 7}}, "without a list of resources"),
    ],
)
def test_a_file_that_is_neither_is_refused_with_what_to_give(document: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        document_of("file", document)


@pytest.mark.parametrize("key", ["inputs", "outputs", "urn", "type", "propertyDependencies"])
@pytest.mark.parametrize("odd", [None, 7, "text", [], [[]], {"a": {"b": [None]}}])
def test_odd_resources_end_in_no_traceback(key: str, odd: Any) -> None:
    document = copy.deepcopy(stacks.SAFE)
    for each in document["deployment"]["resources"]:
        each[key] = odd

    assert overview(document).summary()


def test_a_large_stack_is_surveyed_in_a_moment() -> None:
    pools = [pool(f"p{n}", labels={"number": str(n)}) for n in range(1000)]
    selects = [{"nodeSelector": {"number": str(n)}} for n in range(1000)]
    jobs = [workload(stacks.JOB, f"j{n}", spec) for n, spec in enumerate(selects)]
    found = overview(state(cluster(), *pools, *jobs))

    assert sum(len(lane.pools) for lane in found.clusters[0].lanes) == 1000
    assert "a large stack" in " ".join(found.notes)


def test_resources_of_other_clouds_leave_the_picture_empty() -> None:
    found = overview(state(resource("aws:s3/bucket:Bucket", "b", {"bucket": "b"})))

    assert (found.clusters, found.buckets) == ([], [])
    assert found.title == "Stack live"
