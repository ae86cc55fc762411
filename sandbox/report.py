"""What a rehearsal did: a table for people, `report.json` for programs, a log for each step."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

_COUNT = re.compile(r"^\s+(?:[-+~]+\s+)?(\d+ (?:to )?\w+)\s*$")


@dataclass
class Step:
    """One step: its command, duration, what it changed, and all that it printed."""

    name: str
    command: list[str]
    seconds: float
    changes: str
    output: str
    ok: bool = True


@dataclass
class Report:
    """The steps of one rehearsal, in order."""

    stack: str
    engine: str
    folder: Path
    steps: list[Step] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return all(step.ok for step in self.steps)

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self._log(step).write_text(step.output)

    def write(self) -> None:
        """Writes `report.json` into the rehearsal's folder."""
        content = {
            "stack": self.stack,
            "ok": self.ok,
            "engine": self.engine,
            "steps": [
                {
                    "name": step.name,
                    "ok": step.ok,
                    "seconds": round(step.seconds, 1),
                    "changes": step.changes,
                    "command": step.command,
                    "log": self._log(step).name,
                }
                for step in self.steps
            ],
        }
        (self.folder / "report.json").write_text(json.dumps(content, indent=2) + "\n")

    def table(self) -> str:
        """The steps with outcome, seconds and counts."""
        rows = [("step", "outcome", "seconds", "resources")]
        rows += [
            (step.name, "ok" if step.ok else "FAILED", f"{step.seconds:.1f}", step.changes)
            for step in self.steps
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        first, second, third = widths
        return "\n".join(
            f"{name:<{first}}  {outcome:<{second}}  {seconds:>{third}}  {counts}".rstrip()
            for name, outcome, seconds, counts in rows
        )

    def failure_text(self) -> str:
        """What the failed step printed, after its name."""
        failed = next(step for step in self.steps if not step.ok)
        return f"\nstep {failed.name!r} failed; it printed:\n\n{failed.output.rstrip()}\n"

    def _log(self, step: Step) -> Path:
        number = self.steps.index(step) + 1
        return self.folder / f"{number:02}-{re.sub(r'[^a-z]+', '-', step.name)}.log"


def changes(output: str) -> str:
    """The engine's summary of resources, on one line."""
    _, found, summary = output.rpartition("\nResources:\n")
    if not found:
        return ""
    counts: list[str] = []
    for line in summary.splitlines():
        match = _COUNT.match(line)
        if match is None:
            break
        counts.append(match[1])
    return ", ".join(counts)
