"""Cloud Monitoring's alerts: AlertPolicy."""

import re

from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.durations import outside, seconds_of
from sandbox.cloud.types.monitoring import MonitoringKind
from sandbox.cloud.types.values import Properties, block, project_number

ALERT_POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
CONDITIONS = (
    "conditionThreshold",
    "conditionAbsent",
    "conditionMatchedLog",
    "conditionMonitoringQueryLanguage",
    "conditionPrometheusQueryLanguage",
    "conditionSql",
)
MOST_CONDITIONS = 6
LONGEST_WINDOW_SECONDS = 84_600  # 23.5 hours
SHORTEST_ABSENCE_SECONDS = 120
SHORTEST_CLOSE_SECONDS = 1800
_CHANNEL = re.compile(r"projects/[^/]+/notificationChannels/[^/]+")


class AlertPolicy(MonitoringKind):
    """An alert: conditions, and whom to tell."""

    token, table, called = ALERT_POLICY, "alert_policy", "AlertPolicy"
    collection = "alertPolicies"

    def refuse(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> list[str]:
        conditions = inputs["conditions"]
        problems = []
        if not 1 <= len(conditions) <= MOST_CONDITIONS:
            problems.append(
                f"Field alert_policy.conditions has {len(conditions)} conditions. Must be 1 to "
                f"{MOST_CONDITIONS}"
            )
        for index, condition in enumerate(conditions):
            problems += _condition(f"alert_policy.conditions[{index}]", condition)
        for channel in inputs.get("notificationChannels") or []:
            if not _CHANNEL.fullmatch(channel):
                problems.append(
                    f"Field alert_policy.notification_channels had an invalid value of "
                    f"'{channel}'. It is projects/PROJECT/notificationChannels/CHANNEL"
                )
        return [*problems, *_strategy(inputs)]

    def serve(self, cloud: Cloud, inputs: Properties, old: Properties | None) -> Properties:
        name = inputs["name"]
        record = {"mutateTime": "2026-11-29T00:00:00.000000000Z", "mutatedBy": "user@example.com"}
        conditions = [
            {**condition, "name": f"{name}/conditions/{project_number(f'{name}/{index}')}"}
            for index, condition in enumerate(inputs["conditions"])
        ]
        return {**inputs, "conditions": conditions, "creationRecords": [record]}


def _condition(where: str, condition: Properties) -> list[str]:
    given = [name for name in CONDITIONS if name in condition]
    if len(given) != 1:
        return [f"Field {where} needs exactly one of {', '.join(CONDITIONS)}, not {len(given)}"]
    kind, inner = given[0], condition[given[0]]
    if kind not in ("conditionThreshold", "conditionAbsent"):
        return []
    where = f"{where}.{kind}"
    shortest = SHORTEST_ABSENCE_SECONDS if kind == "conditionAbsent" else 0
    problems = outside(f"{where}.duration", inner["duration"], shortest, LONGEST_WINDOW_SECONDS)
    if not problems and (seconds_of(inner["duration"]) or 0) % 60:
        problems.append(f"Field {where}.duration '{inner['duration']}' is not of whole minutes")
    text = inner.get("filter", "")
    if "metric.type" not in text and "select_" not in text:
        problems.append(f"Field {where}.filter must specify a restriction on metric.type")
    for each in inner.get("aggregations") or []:
        name = f"{where}.aggregations.alignment_period"
        problems += outside(name, each.get("alignmentPeriod"), 60)
    return problems


def _strategy(inputs: Properties) -> list[str]:
    strategy = block(inputs, "alertStrategy")
    problems = outside(
        "alert_policy.alert_strategy.auto_close", strategy.get("autoClose"), SHORTEST_CLOSE_SECONDS
    )
    logs = [each for each in inputs["conditions"] if "conditionMatchedLog" in each]
    if logs and len(inputs["conditions"]) > 1:
        problems.append("Field alert_policy.conditions: conditionMatchedLog stands alone")
    if logs and "notificationRateLimit" not in strategy:
        problems.append(
            "Field alert_policy.alert_strategy.notification_rate_limit is needed by "
            "conditionMatchedLog"
        )
    return problems


KINDS = (AlertPolicy(),)
