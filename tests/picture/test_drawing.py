"""A picture can be read by everyone, and holds nothing that its reader should not see."""

import re
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest

from spotproof_gke.picture import lettering, mermaid, svg
from spotproof_gke.picture.overview import Overview
from spotproof_gke.picture.paper import _DARK, _LIGHT
from spotproof_gke.picture.program import program_of
from spotproof_gke.picture.survey import survey
from spotproof_gke.program_documents import document_of
from tests.picture import stacks
from tests.picture.stacks import cluster, plan, pool, resource, state, workload

SVG = "{http://www.w3.org/2000/svg}"
FORMS = {"wide": svg.WIDE, "narrow": svg.NARROW}
SHOWN_WIDE, SHOWN_NARROW = 830, 358
"""How wide a page of 1280 and one of 390 pixels show a picture, in pixels."""
LEAST_LETTERS = 11

NASTY = "</text><script>alert(1)</script> & \"q\" 's' ]]> `x` #35; \n\t\x00\x1b[31m \u202e end;%%{"


def drawn(document: Any, form: svg.Form) -> str:
    return svg.draw(survey(program_of(document_of("file", document))), form)


def chart(document: Any) -> str:
    return mermaid.draw(survey(program_of(document_of("file", document))))


@cache
def many() -> Overview:
    pools = [pool(f"p{n}") for n in range(2000)]
    jobs = [workload(stacks.JOB, f"j{n}", {}) for n in range(2000)]
    buckets = [resource(stacks.BUCKET, f"b{n}", {"name": f"b{n}"}) for n in range(1000)]
    return survey(program_of(document_of("file", state(cluster(), *pools, *jobs, *buckets))))


def long_names() -> dict[str, Any]:
    word, words = "W" * 300, "long " * 80
    return state(
        cluster(word),
        pool(word, of=word, machineType=word),
        workload(stacks.JOB, word, {}, namespace=word),
        workload(stacks.JOB, words, {"nodeSelector": {"a": "b"}}),
        resource(stacks.BUCKET, words, {"name": words, "location": word}),
    )


def nasty() -> dict[str, Any]:
    return state(
        cluster(NASTY, location=NASTY),
        pool(NASTY, of=NASTY, machineType=NASTY, labels={NASTY: NASTY}),
        workload(stacks.JOB, NASTY, {}, namespace=NASTY),
        resource(stacks.BUCKET, NASTY, {"name": NASTY, "location": NASTY}),
        resource(stacks.SUBSCRIPTION, NASTY, {"name": NASTY}),
    )


DOCUMENTS = {
    "safe": stacks.SAFE,
    "bare": state(cluster(), pool("bare", spot=True)),
    "long": long_names(),
    "nasty": nasty(),
    "empty": state(),
}


@pytest.mark.parametrize(
    ("text", "measured", "measured_bold"),
    [
        ("spot-l4-pool-3545b5d", 10.74, 12.10),
        ("cloud.google.com/gke-spot=true, nvidia.com/gpu", 24.77, 27.82),
        ("Deployment kube-system/metrics-server", 20.45, 22.98),
        ("2,048 vCPUs", 6.33, 7.04),
        ("WWWWWWWWWW", 9.89, 11.03),
        ("HHHHHHHHHH", 7.52, 8.37),
        ("mmmmmmmmmm", 9.74, 10.42),
        ("iiiiiiiiii", 2.78, 3.43),
        ("!!!!!!!!!!", 4.01, 4.56),
        ("^^^^^^^^^^", 8.38, 8.38),
    ],
)
def test_letters_are_no_wider_than_they_are_taken_for(
    text: str, measured: float, measured_bold: float
) -> None:
    """Measured in DejaVu Sans, the widest of the fonts named, by Chromium on 2026-11-30."""
    assert measured <= lettering.width(text, 1) <= 1.5 * measured
    assert measured_bold <= lettering.width(text, 1, bold=True) <= 1.5 * measured_bold


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_no_text_leaves_its_box(document: Any, form: svg.Form) -> None:
    root = ElementTree.fromstring(drawn(document, form))
    boxes = [
        tuple(float(each.get(key, 0)) for key in ("x", "y", "width", "height"))
        for each in root.iter(f"{SVG}rect")
    ]
    for text in root.iter(f"{SVG}text"):
        size, bold = float(text.get("font-size", 0)), text.get("font-weight") is not None
        for span in text.iter(f"{SVG}tspan"):
            x, y = float(span.get("x", 0)), float(span.get("y", 0))
            right = x + lettering.width(span.text or "", size, bold=bold)
            around = [b for b in boxes if b[0] <= x <= b[0] + b[2] and b[1] <= y <= b[1] + b[3]]
            innermost = min(around, key=lambda box: box[2] * box[3])
            assert right <= innermost[0] + innermost[2] + 0.1, span.text
            assert y <= innermost[1] + innermost[3] - 3, span.text


@pytest.mark.parametrize(
    ("form", "shown"), [(svg.WIDE, SHOWN_WIDE), (svg.NARROW, SHOWN_NARROW)], ids=FORMS
)
def test_letters_are_large_enough_where_pages_show_them(form: svg.Form, shown: int) -> None:
    sizes = re.findall(r'font-size="([\d.]+)"', drawn(stacks.SAFE, form))

    assert sizes
    assert min(map(float, sizes)) * min(1, shown / form.width) >= LEAST_LETTERS


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [_LIGHT, _DARK], ids=["light", "dark"])
def test_letters_stand_out_from_every_ground_in_either_mode(theme: Any) -> None:
    grounds = [
        colours["fill"]
        for name, colours in theme.items()
        if "stroke" in colours and "fill" in colours
    ]
    for ink in (".ink", ".soft", ".warn"):
        for ground in [*grounds, theme[".page"]["fill"]]:
            pair = sorted((_luminance(theme[ink]["fill"]), _luminance(ground)))
            # The least contrast of WCAG 2.2 for ordinary text (level AA).
            assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (ink, ground)


def test_kinds_are_told_by_word_and_shape_as_well_as_by_colour() -> None:
    root = ElementTree.fromstring(drawn(stacks.SAFE, svg.WIDE))
    words = {span.text for span in root.iter(f"{SVG}tspan")}

    assert {"On-demand", "Spot"} <= words
    assert len({path.get("d") for path in root.iter(f"{SVG}path")}) > 4
    assert {
        r.get("stroke-dasharray") for r in root.iter(f"{SVG}rect") if r.get("class") == "spot"
    } == {"7 4"}


def test_a_picture_tells_its_content_to_those_who_do_not_see_it() -> None:
    root = ElementTree.fromstring(drawn(stacks.SAFE, svg.WIDE))

    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "Stack live"
    assert "1 on-demand, 1 Spot" in (root.findtext(f"{SVG}desc") or "")


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_picture_needs_nothing_beside_itself_and_runs_nothing(form: svg.Form) -> None:
    picture = drawn(nasty(), form)
    root = ElementTree.fromstring(picture)

    kinds = {each.tag.removeprefix(SVG) for each in root.iter()}
    assert kinds <= {"svg", "title", "desc", "style", "rect", "text", "tspan", "path"}
    assert not re.search(r"href|url\(|@import|on\w+=", re.sub(r">[^<]*<", "><", picture))
    assert "\x1b" not in picture
    assert "\u202e" not in picture


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_is_cut_is_there_in_full_for_the_mouse(form: svg.Form) -> None:
    root = ElementTree.fromstring(drawn(long_names(), form))

    assert any("W" * 200 in (each.text or "") for each in root.iter(f"{SVG}title"))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_of_thousands_of_things_some_are_drawn_and_the_others_counted(form: svg.Form) -> None:
    picture = svg.draw(many(), form)

    assert f"and {2000 - form.most:,} more pools" in picture
    assert f"and {1000 - form.most:,} more buckets" in picture
    assert len(picture) < 60_000


def test_secrets_and_commands_are_in_no_picture() -> None:
    document = stacks.SAFE
    for text in (drawn(document, svg.WIDE), drawn(document, svg.NARROW), chart(document)):
        assert stacks.SECRET not in text
        assert "token" not in text.lower()


def test_what_is_unknown_in_a_plan_is_said_so() -> None:
    unknown = stacks.UNKNOWN
    given = pool("new", machineType=unknown, of=unknown)
    given["inputs"]["autoscaling"] = unknown
    text = drawn(plan(cluster(location=unknown), given), svg.WIDE)

    assert unknown not in text
    for words in ("machine type not known", "number of nodes not known", "location not known"):
        assert words in text


LINE = re.compile(
    r"  (accTitle|accDescr): [^\n]+|flowchart LR| *subgraph n\d+\[\"[^\"]*\"\]| *end"
    r"|    direction (LR|TB)| *class n\d+ \w+"
    r"| *(n\d+ --> )?n\d+[\[({/>]+\"[^\"]*\"[\])}/]+( (-->|-\. perhaps \.->) n\d+)?"
    r"|  classDef \w+ [\w#:,]+"
)


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_mermaid_diagram_has_only_statements_that_are_meant(document: Any) -> None:
    lines = chart(document).splitlines()

    assert [line for line in lines if not LINE.fullmatch(line)] == []
    depth = sum(line.strip().startswith("subgraph ") - (line.strip() == "end") for line in lines)
    assert depth == 0


def test_nothing_in_a_mermaid_text_is_markup() -> None:
    text = chart(nasty())

    assert "<script" not in text
    assert set(re.findall(r"<[^>]*>", text)) <= {"<br/>"}


def test_a_large_mermaid_diagram_stays_below_the_limits_of_its_readers() -> None:
    text = mermaid.draw(many())

    # mermaid.js.org/config/schema-docs/config.html: maxTextSize 50,000 and maxEdges 500.
    assert len(text) < 50_000
    assert text.count("-->") < 500


def test_description_reads_as_a_sentence() -> None:
    (said,) = re.findall(r"^  accDescr: (.*)$", chart(stacks.SAFE), flags=re.M)

    assert "(1 on-demand, 1 Spot), 2 buckets" in said
