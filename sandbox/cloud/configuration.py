"""The settings of a provider, read without the SDK: the launcher asks for them too."""

import json

from sandbox.cloud.types.base import ATTRIBUTION, Config
from sandbox.cloud.types.values import Properties
from sandbox.cloud.wire import has_unknown


def configuration(args: Properties) -> Config:
    """The provider's configuration; what is not known yet counts as not set.

    From a stack's configuration everything that is not text comes as JSON in text.
    """
    known = {name: value for name, value in args.items() if not has_unknown(value)}
    labels = known.get("defaultLabels") or {}
    labels = json.loads(labels) if isinstance(labels, str) else labels
    if str(known.get("addPulumiAttributionLabel", "true")).lower() != "false":
        labels = {**ATTRIBUTION, **labels}
    zone = known.get("zone") or ""
    region = known.get("region") or zone.rpartition("-")[0]
    return Config(known.get("project") or "", region, zone, labels)
