"""The network: what a passage hears of those around it, and gradients that agree with differences."""

import numpy as np
import pytest
from numpy.typing import NDArray

import extract.default.fitting as fitting
from extract.default.characters import Characters
from extract.default.columns import HEIGHTS, Table, columns
from extract.default.fitting import Lesson, fit_network
from extract.default.network import MESSAGE, NAMES, Member
from extract.default.reader import read_passages
from extract.default.surroundings import LEVELS, N_SURROUNDINGS, NEAR, WIDE, Surroundings, joined, surroundings

pytest.importorskip("scipy")

SOURCE = "<h1>Title</h1><ul><li>menu<li>more</ul><div><p>One text.<p>Two <b>text</b>.<dl><dt>Three</dl></div>end"

Floats = NDArray[np.float32]


def columns_of(source: str) -> Table:
    page = read_passages(source)
    return columns(page, Characters(page.text))


def around(source: str = SOURCE) -> Surroundings:
    return surroundings(columns_of(source))


def lesson(seed: int, source: str = SOURCE) -> Lesson:
    page = around(source)
    n, random = len(page.groups), np.random.default_rng(seed)
    values = random.standard_normal((n, 5)).astype(np.float32)
    return Lesson(values, page, values[:, 0] > 0, np.arange(1.0, n + 1), 1.0 + seed)


def test_means_are_those_of_the_passages_around() -> None:
    table = columns_of(SOURCE)
    page, n = surroundings(table), len(table.words)
    values = np.arange(2.0 * n, dtype=np.float32).reshape(n, 2)
    means = page.means(values).reshape(n, N_SURROUNDINGS, 2)
    for at in range(n):
        above = table.ancestors[at, LEVELS]
        spans = [*(range(table.first[one], table.last[one]) for one in above), range(max(0, at - NEAR), at)]
        spans += [range(at + 1, min(n, at + 1 + NEAR)), range(max(0, at - WIDE), min(n, at + 1 + WIDE)), range(n)]
        wanted = [values[list(span)].mean(0) if len(span) else np.zeros(2) for span in spans]
        wanted.append(values[table.groups == table.groups[at]].mean(0))
        assert np.allclose(means[at], np.stack(wanted), rtol=1e-5)
    assert len(above) == len(range(*LEVELS.indices(len(HEIGHTS))))


def test_pages_judged_together_are_judged_as_each_alone() -> None:
    pages = [around(), around("<p>a<p>b<div>c</div>"), around()]
    random = np.random.default_rng(0)
    values = [random.standard_normal((len(page.groups), 5)).astype(np.float32) for page in pages]
    member = Member.random(5, random)
    alone = np.concatenate([member.odds(member.hidden(some), page) for some, page in zip(values, pages, strict=True)])
    assert np.allclose(member.odds(member.hidden(np.concatenate(values)), joined(pages)), alone, atol=1e-5)


def test_gradients_agree_with_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "DROPPED", 0.0)
    lessons = [lesson(0), lesson(1)]
    page, values = joined([one.around for one in lessons]), np.concatenate([one.columns for one in lessons])
    member, random = Member.random(5, np.random.default_rng(3)), np.random.default_rng(4)
    gradients = fitting._gradients(member, values, page, lessons, random)
    for name in NAMES:
        weights = getattr(member, name)
        direction = random.standard_normal(weights.shape).astype(np.float32)
        direction /= np.linalg.norm(direction)
        sides = []
        for step in (1e-2, -1e-2):
            weights += np.float32(step) * direction
            sides.append(loss(member, values, page, lessons))
            weights -= np.float32(step) * direction
        slope = float((gradients[name] * direction).sum())
        assert (sides[0] - sides[1]) / 2e-2 == pytest.approx(slope, rel=0.05, abs=2e-4)


def loss(member: Member, values: Floats, page: Surroundings, lessons: list[Lesson]) -> float:
    """The loss that the module's docstring states, from its definition."""
    odds = member.odds(member.hidden(values), page).astype(np.float64)
    total, at = 0.0, 0
    for one in lessons:
        n = len(one.words)
        p = 1 / (1 + np.exp(-odds[at : at + n]))
        at += n
        weights, share = one.words**0.6 / (one.words**0.6).sum(), one.words / one.words.sum()
        entropy = -(weights * np.where(one.content, np.log(p), np.log(1 - p))).sum()
        both, either = (share * p * one.content).sum(), (share * (p + one.content)).sum()
        f1 = 2 * (both + fitting.ROOM) / (either + 2 * fitting.ROOM)
        total += one.weight * (entropy + fitting.F1_SHARE * (1 - f1))
    return total / sum(one.weight for one in lessons)


def test_what_the_columns_say_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "BATCH_PASSAGES", 40)
    monkeypatch.setattr(fitting, "WARM_UP", 5)
    lessons = [lesson(seed % 2) for seed in range(100)]
    network, again = (fit_network(lessons, members=2) for _ in range(2))
    for one in lessons[:2]:
        assert ((network.probability(one.columns, one.around) > 0.5) == one.content).all()
    for ours, same in zip(network.members, again.members, strict=True):
        assert all((getattr(ours, name) == getattr(same, name)).all() for name in NAMES)
    assert network.members[0].message.shape[1] == MESSAGE
