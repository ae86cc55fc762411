"""What is measured, each case with what it is measured against."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench import states, watch
from bench.bare import write_program
from bench.imports import imports
from bench.plan import differences
from bench.queue_worker import queue_worker
from bench.report import Row
from bench.room import Room, room_of_program, room_of_stack
from bench.runtime import runtime
from bench.setting import PROGRAMS, Run, Setting, Sizes, compared, median_wall, seconds
from bench.timing import BenchError, Sample, spread
from sandbox.mirror import project_name
from sandbox.paths import POLICY_PACKS, VENV, policy_pack
from sandbox.progress import say


def components(setting: Setting) -> list[Row]:
    """The preview of the prod stack, and of its resources declared with bare pulumi-gcp."""
    ours = room_of_stack(setting.folder / "components", setting.engine, "prod")
    bare = bare_room(setting, ours)
    sides = {"our components": ours.preview, "bare pulumi-gcp": bare.preview}
    samples = setting.interleaved(sides)
    what = "prod stack, preview: our components over bare pulumi-gcp"
    return [compared(what, samples, *sides, goal=1.10)]


def bare_room(setting: Setting, ours: Room) -> Room:
    """A room with the bare program for a stack; raises BenchError unless the plans are the same."""
    plan = ours.plan()
    ours.up()
    program = setting.folder / "bare.py"
    program.write_text(write_program(plan, ours.state()))
    ours.forget()
    project = next(one for one in plan if one["type"].startswith("gcp:"))["inputs"]["project"]
    bare = room_of_program(
        setting.folder / "bare", setting.engine, program, {"gcp:project": project},
        project=project_name(), stack=ours.stack,
    )  # fmt: skip
    if found := differences(plan, bare.plan()):
        raise BenchError("the bare program plans something else:\n" + "\n".join(found))
    return bare


def packs(setting: Setting) -> list[Row]:
    """A preview with our policy packs, with packs that judge nothing, and without any."""
    sizes = setting.sizes
    none = setting.many("packs", sizes.many, max(sizes.pools // 20, 1), sizes.pools)
    idle_folder = setting.folder / "idle-packs"
    idle = [_idle_pack(idle_folder / name) for name in ("one", "two")]
    ours = Room(none.sandbox, none.engine, none.stack, [policy_pack(one) for one in POLICY_PACKS])
    nothing = Room(none.sandbox, none.engine, none.stack, idle)
    sides = {
        "our packs": ours.preview,
        "packs that judge nothing": nothing.preview,
        "no packs": none.preview,
    }
    samples = setting.interleaved(sides)
    checkpointed = {
        "our packs, checkpoints": lambda: ours.preview(checkpoints=True),
        "no packs, checkpoints": lambda: none.preview(checkpoints=True),
    }
    samples |= setting.interleaved(checkpointed)
    size = f"{sizes.pools} pools, {sizes.many - sizes.pools} others, preview"
    return [
        compared(f"{size}: our packs over none", samples, "our packs", "no packs", 1.15),
        compared(f"{size}, engine's defaults: the same", samples, *checkpointed, goal=1.15),
        compared(
            f"{size}: two packs that judge nothing over none", samples,
            "packs that judge nothing", "no packs",
        ),
    ]  # fmt: skip


def _idle_pack(folder: Path) -> Path:
    shutil.copytree(PROGRAMS / "idle_pack", folder)
    text = (folder / "PulumiPolicy.yaml").read_text()
    (folder / "PulumiPolicy.yaml").write_text(text.replace("../../../.venv", str(VENV)))
    (folder / "__main__.py").write_text(
        (folder / "__main__.py").read_text().replace('"idle"', f'"idle-{folder.name}"')
    )
    return folder


def state(setting: Setting) -> list[Row]:
    """The judgement of states of 500 and of 5,000 resources, with our packs and with empty ones."""
    return states.state(setting, _idle_pack)


def size(setting: Setting) -> list[Row]:
    """Time for each resource in large and small stacks, and the emulator against nothing."""
    rooms = _rooms_of_sizes(setting)
    rows: list[Row] = []
    actions: dict[str, Callable[[Room], Sample]] = {
        "preview": Room.preview,
        "up without checkpoints": lambda room: room.up(checkpoints=False),
    }
    for action, act in actions.items():
        sides = {
            f"{provider}, {number}, {action}": lambda act=act, room=room: act(room)
            for (provider, number), room in rooms.items()
        }
        samples = setting.interleaved(sides)
        rows += _growth_rows(setting, action, samples)
    return rows


def _rooms_of_sizes(setting: Setting) -> dict[tuple[str, int], Room]:
    return {
        (provider, number): setting.many(
            f"{provider}-{number}", number, number // 10, number // 5, provider == "nothing"
        )
        for provider in ("emulator", "nothing")
        for number in (setting.sizes.start, setting.sizes.few, setting.sizes.many)
    }


def _growth_rows(setting: Setting, action: str, samples: Mapping[str, list[Sample]]) -> list[Row]:
    sizes = setting.sizes

    def of(provider: str, number: int) -> str:
        return f"{provider}, {number}, {action}"

    rows = [
        _growth(setting, f"{action}: time for each resource", action, samples, "emulator", 1.2),
        _growth(setting, f"{action}, provider that does nothing", action, samples, "nothing"),
    ]
    for number in (sizes.few, sizes.many):
        what = f"{action} of {number}: emulator over a provider that does nothing"
        rows.append(compared(what, samples, of("emulator", number), of("nothing", number)))
    return rows


def _growth(
    setting: Setting, name: str, action: str, samples: Mapping[str, list[Sample]], provider: str,
    goal: float | None = None,
) -> Row:  # fmt: skip
    """Time for each resource of many over that of few, what the start costs taken off both.

    With the start left in, the ratio would be far below 1 and say nothing.
    """
    sizes = setting.sizes
    sides = [f"{provider}, {number}, {action}" for number in (sizes.start, sizes.few, sizes.many)]

    rounds = list(zip(*(samples[side] for side in sides), strict=True))
    start, few, many = (median_wall(samples[side]) for side in sides)
    row = Row(
        f"{name}, {sizes.many} over {sizes.few}",
        len(rounds),
        goal=goal,
        detail=f"start {start:.2f}; {few:.2f}; {many:.2f}",
        data={side: seconds(samples[side]) for side in sides},
    )
    # A round in which few took no longer than the start has no ratio.
    rounds = [each for each in rounds if min(_each_of_few(sizes, each)) > 0]
    if not rounds:
        return replace(row, value="lost in the noise")
    wall, cpu = zip(*(_growths(sizes, each) for each in rounds), strict=True)
    return replace(row, samples=len(rounds), wall=spread(wall), cpu=spread(cpu))


def _each_of_few(sizes: Sizes, samples: Sequence[Sample]) -> tuple[float, float]:
    """Wall and CPU time for each further resource, from the start to few."""
    start, few, _ = samples
    number = sizes.few - sizes.start
    return (few.wall - start.wall) / number, (few.cpu - start.cpu) / number


def _growths(sizes: Sizes, samples: Sequence[Sample]) -> tuple[float, float]:
    """The same from the start to many, over that."""
    start, _, many = samples
    number = sizes.many - sizes.start
    wall, cpu = _each_of_few(sizes, samples)
    return (many.wall - start.wall) / number / wall, (many.cpu - start.cpu) / number / cpu


def up(setting: Setting) -> list[Row]:
    """The same for an update as users run it: the engine writes the whole state at each step."""
    rooms = _rooms_of_sizes(setting)
    sides: dict[str, Run] = {
        f"emulator, {number}, up": room.up
        for (provider, number), room in rooms.items()
        if provider == "emulator"
    }
    largest = rooms["nothing", setting.sizes.many]
    sides[f"nothing, {setting.sizes.many}, up"] = largest.up
    samples = setting.interleaved(sides)
    many = setting.sizes.many
    return [
        _growth(setting, "up: time for each resource", "up", samples, "emulator", 1.2),
        compared(
            f"up of {many}: emulator over a provider that does nothing", samples,
            f"emulator, {many}, up", f"nothing, {many}, up",
        ),
    ]  # fmt: skip


def memory(setting: Setting) -> list[Row]:
    """Peak memory and CPU time of each process; these runs are watched, so they are not timed."""
    if not watch.is_possible():
        return [Row("peak memory", 0, value="not measured: this system has no /proc")]
    sizes = setting.sizes
    seen = {
        number: _watched(setting.many(f"memory-{number}", number, number // 10, number // 5))
        for number in (sizes.start, sizes.few, sizes.many)
    }
    rows = []
    for role in ("provider", "program", "engine"):
        peaks = {number: one.peak_mb(role) for number, one in seen.items()}
        name = "emulator" if role == "provider" else role
        shown = " / ".join(f"{peak:.0f}" for peak in peaks.values())
        counts = " / ".join(str(number) for number in peaks)
        rows.append(
            Row(f"peak memory, {name}, up of {counts}", 1, value=f"{shown} MB", data={role: peaks})
        )
    start, few, many = (seen[n].cpu("provider") for n in (sizes.start, sizes.few, sizes.many))
    each = (
        (many - start) / (sizes.many - sizes.start),
        max(few - start, 0.01) / (sizes.few - sizes.start),
    )
    shown = " / ".join(f"{1000 * one:.1f}" for one in each)
    what = f"emulator's own CPU time for each resource, up of {sizes.many} / {sizes.few}"
    rows.append(Row(what, 1, value=f"{shown} ms", data={"seconds": [start, few, many]}))
    return rows


def _watched(room: Room) -> watch.Watch:
    with watch.watching() as seen:
        sample = room.up(checkpoints=False)
    say(f"  watched: {sample.wall:.1f} s")
    return seen


CASES: dict[str, Callable[[Setting], list[Row]]] = {
    "imports": imports,
    "runtime": runtime,
    "queue": queue_worker,
    "components": components,
    "packs": packs,
    "state": state,
    "size": size,
    "memory": memory,
    # By far the longest comes last.
    "up": up,
}
