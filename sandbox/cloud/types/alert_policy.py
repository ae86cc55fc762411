"""Cloud Monitoring's alerts: AlertPolicy."""

import re
from typing import ClassVar

from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.durations import outside, seconds_of
from sandbox.cloud.types.monitoring import MonitoringKind
from sandbox.cloud.types.values import Properties, block, project_number
from sandbox.cloud.validate import one_of

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
_ALIGNER = one_of(
    *("ALIGN_NONE", "ALIGN_DELTA", "ALIGN_RATE", "ALIGN_INTERPOLATE", "ALIGN_NEXT_OLDER"),
    *("ALIGN_MIN", "ALIGN_MAX", "ALIGN_MEAN", "ALIGN_COUNT", "ALIGN_SUM", "ALIGN_STDDEV"),
    *("ALIGN_COUNT_TRUE", "ALIGN_COUNT_FALSE", "ALIGN_FRACTION_TRUE", "ALIGN_PERCENTILE_99"),
    *("ALIGN_PERCENTILE_95", "ALIGN_PERCENTILE_50", "ALIGN_PERCENTILE_05"),
    *("ALIGN_PERCENT_CHANGE", ""),
)
_REDUCER = one_of(
    *("REDUCE_NONE", "REDUCE_MEAN", "REDUCE_MIN", "REDUCE_MAX", "REDUCE_SUM", "REDUCE_STDDEV"),
    *("REDUCE_COUNT", "REDUCE_COUNT_TRUE", "REDUCE_COUNT_FALSE", "REDUCE_FRACTION_TRUE"),
    *("REDUCE_PERCENTILE_99", "REDUCE_PERCENTILE_95", "REDUCE_PERCENTILE_50"),
    *("REDUCE_PERCENTILE_05", ""),
)
_COMPARISON = one_of(
    *("COMPARISON_GT", "COMPARISON_GE", "COMPARISON_LT", "COMPARISON_LE", "COMPARISON_EQ"),
    "COMPARISON_NE",
)
_MISSING = one_of(
    "EVALUATION_MISSING_DATA_INACTIVE",
    "EVALUATION_MISSING_DATA_ACTIVE",
    "EVALUATION_MISSING_DATA_NO_OP",
    "",
)


class AlertPolicy(MonitoringKind):
    """An alert: conditions, and whom to tell."""

    token, table, called = ALERT_POLICY, "alert_policy", "AlertPolicy"
    collection = "alertPolicies"
    validators: ClassVar = {
        "combiner": one_of("AND", "OR", "AND_WITH_MATCHING_RESOURCE"),
        "severity": one_of("CRITICAL", "ERROR", "WARNING", ""),
        "conditions.conditionAbsent.aggregations.perSeriesAligner": _ALIGNER,
        "conditions.conditionAbsent.aggregations.crossSeriesReducer": _REDUCER,
        "conditions.conditionThreshold.aggregations.perSeriesAligner": _ALIGNER,
        "conditions.conditionThreshold.aggregations.crossSeriesReducer": _REDUCER,
        "conditions.conditionThreshold.denominatorAggregations.perSeriesAligner": _ALIGNER,
        "conditions.conditionThreshold.denominatorAggregations.crossSeriesReducer": _REDUCER,
        "conditions.conditionThreshold.comparison": _COMPARISON,
        "conditions.conditionThreshold.evaluationMissingData": _MISSING,
        "conditions.conditionMonitoringQueryLanguage.evaluationMissingData": _MISSING,
    }

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
