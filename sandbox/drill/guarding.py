"""Shows that the guard of a stack does what it is set to do."""

import httpx2

from sandbox.drill.guard import EVERYTHING, Post, ask, asking
from sandbox.drill.stage import BrokenPromise, Stage


def guard_acts(stage: Stage) -> str:
    """The evidence that the guard acts, wherever it has to, on what may run on Spot alone.

    Raises:
        BrokenPromise: it does not.
    """
    guard = stage.workloads.guard
    assert guard is not None, "this is about the guard"
    stage.apply([*guard.manifests, *stage.workloads.before])
    with asking(stage.client) as http:
        for post in guard.posts:
            _acts(stage, http, post)
    places = {
        words: ", ".join(post.title for post in guard.posts if post.denies is denies)
        for words, denies in (("refused in", True), ("warned of in", False))
    }
    shown = "; ".join(f"{words} {where}" for words, where in places.items() if where)
    return f"{shown}; one without tolerations passes"


def _acts(stage: Stage, http: httpx2.Client, post: Post) -> None:
    pod, verb = post.pod(EVERYTHING), "refuse" if post.denies else "warn of"
    # A policy takes effect a moment after its creation.
    stage.wait(
        f"policy {post.policy} to {verb} a pod that tolerates everything in {post.title}",
        lambda: ask(http, pod, dry_run=True).is_as_set(post),
    )
    if post.denies and not ask(http, pod, dry_run=False).refused:
        raise BrokenPromise(f"{post.title} has got a pod that tolerates everything")
    answer = ask(http, post.pod({}), dry_run=True)
    if answer.refused or answer.said:
        raise BrokenPromise(f"a pod without tolerations in {post.title}: {answer.said}")
