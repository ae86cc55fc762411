"""How simulated nodes and pods change: the configuration of kwok."""

from pathlib import Path

_ENDED = """\
{{ $now := Now }}
{{ $marks := or .metadata.annotations dict }}
conditions:
- {type: Ready, status: "False", reason: PodCompleted, lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "False", reason: PodCompleted, \
lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  started: false
  restartCount: 0
  state:
    terminated:
      exitCode: {{ $code }}
      reason: {{ if eq $code "0" }}Completed{{ else }}Error{{ end }}
      startedAt: {{ $now | Quote }}
      finishedAt: {{ or (index $marks "spotproof-sim/finished-at") $now | Quote }}
{{ end }}
phase: {{ if eq $code "0" }}Succeeded{{ else }}Failed{{ end }}
"""


def stages() -> str:
    """The stages as YAML; `stages.yaml` says which annotations they follow."""
    text = Path(__file__).with_name("stages.yaml").read_text()
    indent = "      "
    ended = _ENDED.rstrip().replace("\n", f"\n{indent}")
    return text.replace(f"{indent}ENDED", indent + ended)
