"""Where things are in the project. Everything generated lies under `.venv`, `runtime/.venv`,
`runtime/.venv-torch` and `.spotproof`."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
RUNTIME_VENV = ROOT / "runtime" / ".venv"
TORCH_VENV = ROOT / "runtime" / ".venv-torch"
GENERATED = ROOT / ".spotproof"
BRIEFLY = ROOT / "sandbox" / "briefly.py"
"""The script that runs another in a process that soon ends."""
POLICY_PACKS = ("region_match", "spot_isolation")
"""The packs that run with every preview and update."""
ALL_POLICY_PACKS = (*POLICY_PACKS, "interruption_readiness")


def policy_pack(name: str) -> Path:
    return ROOT / "policies" / name
