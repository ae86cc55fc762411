"""What a picture of a program shows."""

from spotproof_gke.audit.evidence import printable
from spotproof_gke.picture.clusters import survey_clusters
from spotproof_gke.picture.overview import Overview
from spotproof_gke.picture.program import Program
from spotproof_gke.picture.services import (
    survey_buckets,
    survey_identities,
    survey_networks,
    survey_queues,
)
from spotproof_gke.program_documents import STATE
from spotproof_gke.rules.reading import text


def survey(program: Program) -> Overview:
    """All that a picture of a program shows."""
    stack = program.stack
    projects = {text(each.get("project")) for each in stack.resources} - {""}
    clusters, notes = survey_clusters(stack)
    title = f"Stack {program.stack_name}" if program.stack_name else "A stack"
    about = [f"Pulumi project {program.project_name}"] if program.project_name else []
    about += [f"Google Cloud project {each}" for each in sorted(projects)[:3]]
    about.append("as it is" if program.kind == STATE else "as the preview plans it")
    shown = Overview(
        title=printable(title),
        about=printable(", ".join(about)),
        networks=survey_networks(stack),
        clusters=clusters,
        buckets=survey_buckets(stack),
        queues=survey_queues(stack),
        identities=survey_identities(stack),
        notes=[*program.notes, *notes],
    )
    return shown
