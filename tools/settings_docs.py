"""The page and the table of a stack file's settings, out of what the program reads."""

import re
from collections.abc import Iterator

from sections import CLUSTER_SUPPLIED, IDENTITIES, SECTIONS, IdentitySettings, Section
from spotproof.package import docs_of
from spotproof.reader import camel_case
from tools.component_docs import default_and_meaning, described, inputs
from tools.markdown import GENERATED, table
from workload_sections import LayerSettings

HEADER = ("key", "type", "default", "meaning")

SAYS = {
    "network": "Ranges of the network",
    "system_pool": "Where system pods live; always there on Standard",
    "spot_pools": "Pools of Spot GPUs, each under a name of yours",
    "flex_start_pools": "Hand-made pools of flex-start GPUs, queued or not",
    "gpu_pools": "GPU pools of any capacity: on-demand, out of a reservation, and the others",
    "cpu_pools": "Pools of CPU workers on Spot, flex-start or on-demand machines",
    "checkpoints": "The checkpoint bucket in the cluster's region",
    "work_queues": "Pub/Sub queues for interruptible workers",
    "identities": "What each workload may reach",
    "system_placement_guard": "The guard that keeps system workloads off Spot; before all other "
    "objects in the cluster",
    "capacity_classes": "Compute classes: several kinds of capacity in an order of your own",
    "kueue_queues": "Queues of Kueue for jobs whose nodes come all at once",
    "spot_jobs": "Trainings on Spot nodes",
    "flex_start_jobs": "Jobs on flex-start nodes, queued or not",
    "queue_workers": "Workers of a queue on Spot nodes",
}
"""What each section is for."""

DIFFERS = {
    "clusterName": (
        "required",
        "Fixed name of the cluster, at most 40 characters; other names begin with it",
    ),
    "deletionProtection": (
        "true",
        "Whether engine and cloud refuse to destroy anything of the environment",
    ),
    "tablesOutOfDate": (
        "false",
        "Whether what our tables do not list is taken on trust, with a warning, everywhere",
    ),
    **{
        f"{section}.NAME.{key}": ("`NAME`", f"Fixed name of the {kind}, at most 63 characters")
        for section, key, kind in (
            ("spotJobs", "jobName", "Job"),
            ("flexStartJobs", "jobName", "Job"),
            ("queueWorkers", "workersName", "Deployment"),
            ("capacityClasses", "className", "class"),
            ("kueueQueues", "queueName", "ClusterQueue, and of the admission check"),
        )
    },
    **{
        f"{section}.NAME.checkpointLocation": (
            "the stack's bucket and `checkpointPrefix`",
            "Where the run keeps its checkpoints, if not in the stack's bucket: "
            "`gs://BUCKET/PREFIX`, or an absolute path in a volume",
        )
        for section in ("spotJobs", "flexStartJobs")
    },
    **{
        f"{section}.NAME.serviceAccount": (
            "the one that may reach what it needs",
            "Kubernetes service account of the namespace; one that may not reach the stack's "
            f"{what} is an error, and so is none where several or none may",
        )
        for section, what in (
            ("spotJobs", "bucket"),
            ("flexStartJobs", "bucket"),
            ("queueWorkers", "work queue"),
        )
    },
    **{
        f"{section}.NAME.nodes": (
            "`pool`, and `autopilot` on an Autopilot cluster",
            "Where nodes come from; the stack must have a pool that fits, or auto-provisioning",
        )
        for section in ("spotJobs", "flexStartJobs", "queueWorkers")
    },
    **{
        f"{section}.NAME.shutdownGraceSeconds": (
            "what the pools say that fit",
            "Extended shutdown of the Spot nodes: 0 (GKE's 30 s), 30 or 120 s",
        )
        for section in ("spotJobs", "queueWorkers")
    },
    "systemPlacementGuard.systemNamespaces": (
        "none",
        "System namespaces of your own, in which it denies; `*` matches any ending; a workload of "
        "the stack in one of them is an error",
    ),
    "systemPlacementGuard.spotClasses": (
        "none",
        "Compute classes that may take Spot or flex-start nodes, besides those of "
        "`capacityClasses` and GKE's own `autopilot-spot`",
    ),
    "systemPlacementGuard.guardName": (
        "`system-placement-guard`",
        "Beginning of the names of its policies, fixed",
    ),
    "queueWorkers.NAME.subscription": (
        "that of `workQueue`",
        "Id of the queue's subscription, if it is none of the stack's, "
        "`projects/PROJECT/subscriptions/NAME`",
    ),
    "workQueues.NAME.queueName": (
        "`CLUSTER-NAME`",
        "Fixed name, 3 to 200 characters, the prefix of all parts",
    ),
}
"""What the program makes of a setting beyond what the component does with the argument."""

KINDS = {
    "workloads": "one of `none`, `render`, `apply`",
    "create_namespaces": "boolean",
    "enabled": "boolean",
}
"""Types of the settings that are no arguments of a component, where they are no texts."""

ABOUT_WORKLOADS = (
    "What is inside the cluster is a second layer, after the cluster and its pools: "
    "`capacityClasses`, `kueueQueues`, `spotJobs`, `flexStartJobs` and `queueWorkers` below. They "
    "are judged in any case, and the guard of `systemPlacementGuard` comes before them. With "
    "`render` an update writes them to a folder as YAML, and a cluster is not asked; with `apply` "
    "it applies them to the stack's own cluster, which it reaches by the login of `gcloud` "
    "(`gke-gcloud-auth-plugin`), whatever KUBECONFIG says. On the emulated cloud `apply` renders "
    "too."
)

MODE = [
    "one of `standard`, `autopilot`",
    "`standard`",
    "Whether the cluster has pools of your own, or makes a node for what each pod asks for; it "
    "cannot be changed without a new cluster",
]


def sections_table() -> str:
    """The sections of a stack file, for the README: two columns, which a phone has room for."""
    rows = [
        (
            f"[`{camel_case(key)}`](docs/reference/stack-file.md#{camel_case(key).lower()})",
            SAYS[key],
        )
        for key in SECTIONS
    ]
    standard = [f"`{camel_case(key)}`" for key, one in SECTIONS.items() if one.standard_only]
    return f"""{table(("section", "what it is"), rows)}

For Standard clusters alone: {", ".join(standard)}."""


def stack_file_page() -> str:
    """Every key of a stack file."""
    parts = [
        GENERATED,
        "# The stack file",
        "Keys of `stacks/Pulumi.<stack>.yaml`. `NAME` is the name that you give a pool, a queue or "
        "a workload.",
        "## Environment",
        table(HEADER, list(_cluster())),
    ]
    for type_, at in (("AutoProvisioningArgs", "autoProvisioning"),
                      ("MaintenanceWindowArgs", "maintenanceWindow")):  # fmt: skip
        parts += [f"## {at}", table(HEADER, list(_rows(type_, f"{at}.", ())))]
    parts += ["## workloads", ABOUT_WORKLOADS]
    parts.append(table(HEADER, list(_further(LayerSettings, "spotproof:"))))
    for key, section in SECTIONS.items():
        name = camel_case(key)
        parts += [f"## {name}", f"{SAYS[key]}."]
        if section.standard_only:
            parts.append("An Autopilot cluster has none.")
        parts.append(table(HEADER, list(_section(section))))
    return "\n\n".join(parts) + "\n"


def _cluster() -> Iterator[list[str]]:
    yield ["`gcp:project`", "string", "required", "Project id"]
    yield ["`spotproof:mode`", *MODE]
    yield from _rows("GkeClusterArgs", "", CLUSTER_SUPPLIED, "spotproof:")


def _section(section: Section) -> Iterator[list[str]]:
    path = f"{camel_case(section.key)}.{'NAME.' if section.many else ''}"
    if section is not IDENTITIES:
        yield from _rows(section.args.__name__, path, section.supplied)
        if section.more is not None:
            yield from _further(section.more, path)
        return
    for key, doc in docs_of(IdentitySettings).items():
        kind = {"checkpoints": "boolean", "publishes_to": "list of string",
                "works_on": "list of string"}.get(key, "string")  # fmt: skip
        default, meaning = default_and_meaning(doc)
        default = "required" if key == "service_account" else default
        yield [f"`{path}{camel_case(key)}`", kind, default, meaning]


def _further(type_: type, path: str) -> Iterator[list[str]]:
    """The settings that are no arguments of a component."""
    for key, doc in docs_of(type_).items():
        default, meaning = map(_spelt_as_setting, default_and_meaning(doc))
        yield [f"`{path}{camel_case(key)}`", KINDS.get(key, "string"), default, meaning]


def _rows(type_: str, path: str, hidden: object, prefix: str = "") -> Iterator[list[str]]:
    """The settings of a type of arguments, less those that the program supplies."""
    properties, required = inputs(type_)
    supplied = {camel_case(key) for key in hidden} if isinstance(hidden, frozenset) else set()
    for key, shape in properties.items():
        if key in supplied:
            continue
        kind, default, meaning = map(_spelt_as_setting, described(key, shape, required))
        default, meaning = DIFFERS.get(f"{path}{key}", (default, meaning))
        yield [f"`{prefix}{path}{key}`", kind, default, meaning]


def _spelt_as_setting(text: str) -> str:
    return re.sub(r"`([a-z]+(_[a-z]+)+)`", lambda m: f"`{camel_case(m[1])}`", text)
