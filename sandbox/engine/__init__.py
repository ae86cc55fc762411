"""Finds the Pulumi engine, and builds it with Go where it can be had in no other way."""

from sandbox.engine.select import Engine, EngineError, ensure, lookup

__all__ = ["Engine", "EngineError", "ensure", "lookup"]
