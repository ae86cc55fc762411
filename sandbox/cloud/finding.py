"""Resources of the emulated cloud by what a person types: a type and a name."""

from sandbox.cloud.problems import did_you_mean
from sandbox.cloud.store import Store, Thing
from sandbox.cloud.types import kinds


class CommandError(Exception):
    """What a person asked for cannot be done; the message says why, and what can."""


def token_of(text: str) -> str:
    """The type that is meant by a token, or by its last part in any case.

    Raises:
        CommandError: There is no such type, or several.
    """
    names = {token: token.rpartition(":")[2] for token in kinds()}
    fitting = [t for t, name in names.items() if t == text or name.lower() == text.lower()]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise CommandError(f"{text!r} is several types: {', '.join(fitting)}; give one in full")
    near = did_you_mean(text, set(names.values()))
    raise CommandError(f"{text!r} is no type of the emulated cloud; {near}")


def one_thing(store: Store, token: str, name: str) -> Thing:
    """The resource of a type with this id, or whose id ends in this name.

    Raises:
        CommandError: There is no such resource, or several; it names those that exist.
    """
    things = store.all(token)
    exact = [thing for thing in things if thing["id"] == name]
    fitting = exact or [thing for thing in things if thing["id"].endswith(f"/{name}")]
    if len(fitting) == 1:
        return fitting[0]
    short = token.rpartition(":")[2]
    if fitting:
        ids = "".join(f"\n  {thing['id']}" for thing in fitting)
        raise CommandError(f"several resources of type {short} are called {name!r}:{ids}")
    if not things:
        raise CommandError(f"{short} {name!r} is not in the cloud: there is no {short} at all")
    ids = "".join(f"\n  {thing['id']}" for thing in things)
    raise CommandError(f"{short} {name!r} is not in the cloud; these are:{ids}")


def project_of(thing: Thing) -> str:
    """The project of a resource, for what the server asks about it."""
    return str(thing["properties"].get("project", ""))
