"""A picture as SVG: wide for a page, or narrow, one column, for a phone."""

from collections.abc import Sequence

from spotproof_gke.picture.overview import (
    Card,
    Cluster,
    Item,
    Kind,
    Lane,
    Overview,
    Pods,
    Tone,
    Verdict,
)
from spotproof_gke.picture.paper import KIND_CLASS, dashes_of
from spotproof_gke.picture.sheet import Draw, Form, Sheet
from spotproof_gke.picture.words import MEANING

_PAD = 12.0
WIDE = Form(960, 14, 13, False, 9)
NARROW = Form(380, 13.5, 12.5, True, 6)


def draw(overview: Overview, form: Form = WIDE) -> str:
    """The picture of an overview as the text of an SVG file."""
    return _Drawing(form).draw(overview)


class _Drawing(Sheet):
    def draw(self, overview: Overview) -> str:
        form, margin = self.form, 20.0 if not self.form.is_narrow else 12.0
        room = form.width - 2 * margin
        y = self.paper.write(
            (margin, margin), overview.title, room, form.text + 8, bold=True, most=2
        )
        y = self.paper.write((margin, y + 2), overview.about, room, form.small, look="soft", most=3)
        y = self._networks(overview, margin, y + 12, room)
        y = self._services(overview, margin, y + 14, room)
        for note in overview.notes:
            y = self.paper.write((margin, y + 8), note, room, form.small, look="soft", most=4)
        return self.paper.svg((form.width, y + margin), overview.title, overview.summary())

    def _networks(self, overview: Overview, x: float, y: float, room: float) -> float:
        if not overview.clusters:
            return self.paper.write((x, y), "No cluster in this stack.", room, self.form.text)
        if not overview.networks:
            return self._clusters(overview.clusters, x, y, room)
        pad = _PAD if not self.form.is_narrow else 7.0
        place, top = self.paper.mark(), y
        shown = [*overview.networks[:2]]
        words = ", ".join(shown) + (
            f" and {len(overview.networks) - 2} more" if len(overview.networks) > 2 else ""
        )
        y = self.paper.write(
            (x + pad, y + 7), f"Network {words}", room - 2 * pad, self.form.small, look="soft"
        )
        y = self._clusters(overview.clusters, x + pad, y + 5, room - 2 * pad) + pad
        self.paper.box((x, top), (room, y - top), "frame", at=place, dashes="3 4", radius=10)
        return y

    def _clusters(self, clusters: Sequence[Cluster], x: float, y: float, room: float) -> float:
        shown = clusters[: self.form.most]
        for cluster in shown:
            y = self._cluster(cluster, x, y, room) + 10
        return self.more(len(clusters) - len(shown), "cluster", x, y, room) - 10

    def _cluster(self, cluster: Cluster, x: float, y: float, room: float) -> float:
        form, place, top = self.form, self.paper.mark(), y
        pad = _PAD if not form.is_narrow else 8.0
        inner = room - 2 * pad
        head = f"Cluster {cluster.name}" if cluster.about else cluster.name
        y = self.paper.write((x + pad, y + 9), head, inner, form.text + 2, bold=True)
        if cluster.about:
            y = self.paper.write((x + pad, y), cluster.about, inner, form.small, look="soft")
        y += 8
        for lane in cluster.lanes[: 2 * form.most]:
            y = self._lane(lane, x + pad, y, inner) + 9
        y = self.more(len(cluster.lanes) - 2 * form.most, "kind of pool", x + pad, y, inner)
        if not cluster.lanes:
            y = self.paper.write((x + pad, y), "no node pools", inner, form.text, look="soft") + 9
        self.paper.box((x, top), (room, y + pad - 9 - top), "card", at=place, radius=8)
        return y + pad - 9

    def _lane(self, lane: Lane, x: float, y: float, room: float) -> float:
        form, place, top = self.form, self.paper.mark(), y
        y = self._lane_head(lane, x + _PAD, y + 9, room - 2 * _PAD) + 7
        inner, left = room - 2 * _PAD, x + _PAD
        if form.is_narrow or not lane.pools:
            if lane.pods:
                head = "have no node" if lane.kind is Kind.NOWHERE else "may run here"
                y = self.paper.write((left, y), head, inner, form.small, look="soft")
                y = self.all(lane.pods, self._pods, "workload", left, y + 3, inner, 1)
            if lane.pools:
                what = "pool" if lane.kind is not Kind.AUTO else "limit or class"
                y = self.paper.write((left, y), _pools_head(lane), inner, form.small, look="soft")
                y = self.all(lane.pools, self._card(lane.kind), what, left, y + 3, inner, 1)
        else:
            share, gap = 0.37 * inner, 34.0
            start = y
            ends = [self.all(lane.pods, self._pods, "workload", left, y, share, 1)]
            beside, wide = left + share + gap, inner - share - gap
            columns = 3 if len(lane.pools) > 2 else 2
            draw_card = self._card(lane.kind)
            ends.append(self.all(lane.pools, draw_card, "pool", beside, y, wide, columns))
            y = max(ends)
            self.paper.arrow((left + share + 6, (start + min(ends)) / 2 - 2), gap - 12)
        look = KIND_CLASS[lane.kind]
        self.paper.box((x, top), (room, y + 4 - top), look, at=place, dashes=dashes_of(lane.kind))
        return y + 4

    def _lane_head(self, lane: Lane, x: float, y: float, room: float) -> float:
        form = self.form
        self.paper.sign(lane.kind, (x, y), form.text + 3)
        name, indent = _capital(lane.kind.value), form.text + 11
        words, meaning = lane.gate, MEANING[lane.kind]
        if form.is_narrow:
            bottom = self.paper.write((x + indent, y), name, room - indent, form.text, bold=True)
            bottom = self.paper.write((x, bottom + 2), _capital(meaning), room, form.small, most=2)
            if words:
                bottom = self.paper.write((x, bottom), words, room, form.small, look="soft", most=3)
            return bottom
        share = 0.37 * room
        bottom = self.paper.write((x + indent, y), name, share - indent, form.text + 1, bold=True)
        right = x + share + 34
        lower = self.paper.write((right, y + 1), meaning, room - share - 34, form.small)
        if words:
            lower = self.paper.write(
                (right, lower), words, room - share - 34, form.small, look="soft"
            )
        return max(bottom, lower)

    def _pods(self, pods: Pods, x: float, y: float, wide: float, high: float) -> float:
        form = self.form
        is_bad = pods.tone is Tone.WARNING
        self.paper.box((x, y), (wide, high), "bad" if is_bad else "card", radius=5)
        self.paper.sign(pods.tone, (x + 8, y + 6.5), form.text)
        left, room = x + form.text + 15, wide - form.text - 22
        bottom = self.paper.write((left, y + 5), pods.name, room, form.small, bold=True)
        detail = pods.detail if pods.certain else f"perhaps {pods.detail}".strip()
        if detail:
            look = "warn" if is_bad else "soft"
            bottom = self.paper.write((left, bottom), detail, room, form.small, look=look)
        return bottom + 5

    def _card(self, kind: Kind) -> Draw:
        def draw(card: Card, x: float, y: float, wide: float, high: float) -> float:
            form, room = self.form, wide - 16
            self.paper.box((x, y), (wide, high), "card", dashes=dashes_of(kind), radius=5)
            bottom = self.paper.write((x + 8, y + 5), card.name, room, form.small, bold=True)
            for line in card.lines[: form.most]:
                bottom = self.paper.write((x + 8, bottom), line, room, form.small, look="soft")
            return bottom + 5

        return draw

    def _services(self, overview: Overview, x: float, y: float, room: float) -> float:
        panels = [
            ("Buckets", "bucket", overview.buckets),
            ("Queues", "queue", overview.queues),
            ("Identities", "identity", overview.identities),
        ]
        panels = [each for each in panels if each[2]]
        columns = 1 if self.form.is_narrow else max(1, len(panels))
        wide = (room - 12 * (columns - 1)) / columns
        for first in range(0, len(panels), columns):
            row = panels[first : first + columns]
            high = max(self.height(self._panel, each, wide) for each in row)
            for place, each in enumerate(row):
                self._panel(each, x + place * (wide + 12), y, wide, high)
            y += high + 12
        return y - 12

    def _panel(
        self, panel: tuple[str, str, Sequence[Item]], x: float, y: float, wide: float, high: float
    ) -> float:
        (head, noun, found), form = panel, self.form
        self.paper.box((x, y), (wide, high), "frame", radius=8)
        bottom = self.paper.write((x + _PAD, y + 9), head, wide, form.text + 1, bold=True) + 5
        for item in found[: form.most]:
            bottom = self._item(item, x + _PAD, bottom, wide - 2 * _PAD) + 6
        plural = "identitie" if noun == "identity" else noun
        more = len(found) - form.most
        return self.more(more, noun if more == 1 else plural, x + _PAD, bottom, wide) + 5

    def _item(self, item: Item, x: float, y: float, wide: float) -> float:
        form = self.form
        self.paper.sign(item.verdict, (x, y + 2), form.text)
        left, room = x + form.text + 7, wide - form.text - 7
        bottom = self.paper.write((left, y), item.name, room, form.small, bold=True)
        look = "warn" if item.verdict is Verdict.MISMATCH else "soft"
        for line in item.lines[: form.most]:
            bottom = self.paper.write((left, bottom), line, room, form.small, look=look, most=3)
        return bottom


def _pools_head(lane: Lane) -> str:
    if lane.kind is Kind.AUTO:
        return "within"
    return "on node pool" if len(lane.pools) == 1 else "on node pools"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
