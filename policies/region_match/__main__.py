"""Serves the pack to the engine. The policies themselves can be imported from `policy`."""

from policy import POLICIES

from spotproof_gke.policy_server import serve

serve("spotproof-region-match", POLICIES)
