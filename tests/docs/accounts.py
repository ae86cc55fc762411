"""How each block is shown to be right that no general test takes.

A block of `console` or `sh` without any output is *parsed* unless it stands here: its programs,
subcommands, flags, targets, stacks and files have to exist (`commands.py`). Blocks of `python`,
`yaml` and `json` are taken by test_docs, whatever page they are on, but for those of the runtime.
A block that shows output, and one of plain text, has to stand here, with the test that runs it or
looks at it.
"""

AUDIT = "tests/audit/test_audit_docs.py::test_example_prints_what_the_page_shows"
DOCTOR = "tests/unit/test_doctor_page.py::test_the_examples_print_what_the_page_shows"
GRAPH = "tests/picture/test_graph_page.py::"
GRAPH_SHOWN = GRAPH + "test_the_examples_print_what_the_page_shows"
ADVISE = "tests/unit/test_advise_docs.py::test_example_prints_what_the_page_shows"
ADOPT = "tests/engine/test_adopt.py::test_every_command_of_the_page_does_what_the_page_says"
COST = "tests/cost/test_cost_docs.py::test_examples_print_what_the_page_shows"
CI_PAGE = "tests/engine/test_policy_page.py::"
CI_PAGE += "test_the_commands_of_the_page_run_in_a_repository_that_is_not_ours"
NEWCOMER = "tests/cluster/test_newcomer.py::test_a_newcomer_gets_what_the_readme_shows"
SANDBOX = "tests/engine/test_sandbox_page.py::"
SANDBOX += "test_the_page_of_the_sandbox_shows_what_its_commands_print"
TEXTS = "tests/docs/test_shown_texts.py::"
RUNTIME = "tests/runtime/test_readme.py::"
QUEUE = "tests/runtime/test_queue_page.py::"

SHOWN_BY: dict[str, dict[str, str]] = {
    "README.md": {
        "$ git clone https://github.com/spotproof/spotproof": NEWCOMER,
        "$ cat >> infra/__main__.py <<'END'": NEWCOMER,
        '$ perl -pi -e \'s/"US"/"NORTHAMERICA-NORTHEAST2"/\' infra/__main__.py': NEWCOMER,
        "Pulumi.yaml      the project: runtime python, main: infra, stackConfigDir: stacks": TEXTS
        + "test_the_layout_names_what_there_is",
        "error: stacks/Pulumi.dev.yaml: 3 problems": "tests/unit/test_docs.py::"
        "test_the_readme_shows_the_error_of_a_wrong_stack_file",
    },
    "components/README.md": {
        'import * as spotproof from "spotproof";': "tests/engine/test_typescript.py::"
        "test_the_compiler_takes_what_the_page_shows_and_refuses_wrong_arguments",
    },
    "docs/how-to/adopt-existing.md": {
        "pulumi import --file adopt.json --generate-code=false": ADOPT,
        "pulumi preview --diff": ADOPT,
        "pulumi up": ADOPT,
        "pulumi destroy": ADOPT,
        "pulumi state delete --all --force": ADOPT,
    },
    "docs/how-to/audit.md": {
        "$ spotproof audit": AUDIT,
        "$ kubectl get nodes,pods": AUDIT,
        "$ pulumi stack export --stack prod > state.json": AUDIT,
        "$ spotproof audit state.json cluster.json | grep": AUDIT,
    },
    "docs/how-to/check-this-machine.md": {
        "$ spotproof doctor --stack prod": DOCTOR,
        "$ pulumi stack export --stack prod > state.json": DOCTOR,
    },
    "docs/how-to/draw-a-stack.md": {
        "$ pulumi stack export --stack prod > state.json": GRAPH_SHOWN,
        "$ pulumi preview --stack prod --json": GRAPH_SHOWN,
        "$ spotproof graph state.json": GRAPH_SHOWN,
        "<picture>": GRAPH + "test_a_page_takes_both_forms_as_the_example_says",
    },
    "docs/how-to/choose-capacity.md": {"$ spotproof advise": ADVISE},
    "docs/how-to/drill.md": {
        "drill of stack showcase: cluster showcase, 10 node pools": TEXTS
        + "test_the_report_of_the_drill_has_each_promise",
        "1000 pods on 200 nodes": TEXTS + "test_the_measurement_at_scale_has_the_form_of_the_test",
    },
    "docs/how-to/estimate-cost.md": {
        "$ spotproof gpus ": COST,
        "$ spotproof interval ": COST,
        "$ pulumi preview --json > plan.json": COST,
        "$ spotproof cost plan.json --nodes": COST,
    },
    "docs/how-to/game-day.md": {
        "kept         5.1 s  The node is taken away": TEXTS
        + "test_the_report_of_the_game_day_has_its_promises",
    },
    "docs/how-to/policies-in-ci.md": {
        "$ git clone --depth 1": CI_PAGE,
        "$ pulumi preview --policy-pack .policy-packs/policies/region_match": CI_PAGE,
        "$ pulumi stack export --file state.json": CI_PAGE,
        "$ pulumi preview --policy-pack .policy-packs/policies/spot_isolation": CI_PAGE,
        "$ PULUMI_DEBUG_COMMANDS=true pulumi preview": CI_PAGE,
    },
    "docs/how-to/quota.md": {"$ make destroy": SANDBOX},
    "docs/how-to/stock-out.md": {"$ make destroy": SANDBOX},
    "docs/how-to/sandbox.md": {
        "$ make up": SANDBOX,
        '$ eval "$(make -s env)"': SANDBOX,
        "$ .venv/bin/python -m sandbox.cloud show": SANDBOX,
        "$ make rehearse STACK=prod": SANDBOX,
    },
    "runtime/README.md": {
        "import json": RUNTIME + "test_the_training_loop_runs_and_goes_on_from_its_checkpoint",
        "from spotproof_gke.contract import EXIT_DONE": RUNTIME + "test_the_queue_worker_runs",
        "$ cd runtime/workloads": RUNTIME + "test_the_commands_for_a_laptop_run",
    },
    "sandbox/cloud/README.md": {
        "serve.py       the plugin's process": TEXTS
        + "test_the_files_of_the_emulated_cloud_are_there",
    },
    "runtime/docs/work-on-a-queue.md": {
        "python -m spotproof_runtime.publish rows texts.csv": QUEUE
        + "test_the_page_works_as_it_stands",
        "from collections.abc import Sequence": QUEUE + "test_the_page_works_as_it_stands",
        "with QueueWorker(sink=sink, stop=stop) as worker:": QUEUE
        + "test_the_loop_in_ones_own_hands_does_the_same",
    },
}
"""Page, how its block begins, and the test."""
