"""Serves the pack to the engine. The policies themselves can be imported from `policy`."""

from policy import POLICIES
from pulumi_policy import PolicyPack

PolicyPack(name="spotproof-interruption-readiness", policies=POLICIES)
