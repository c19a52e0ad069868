"""RFC 9111, section 4.1: which variant answers."""

import pytest

from proxy.caching import Action, Policy, decide, nearest, selecting_fields
from proxy.caching.vary import preferences
from tests.proxy.caching.build import after, get, headers, keep

POLICY = Policy()


def selects(vary: str, first: list[str], second: list[str]) -> bool:
    """Tell whether a response to the first request, with this Vary, answers the second."""
    stored = keep("Cache-Control: max-age=60", f"Vary: {vary}", asked=get(*first))
    decision = decide([stored], get(*second), after(0), POLICY)
    assert decision.fwd in ("", "vary-miss")
    return decision.action is Action.HIT


@pytest.mark.parametrize(
    ("vary", "first", "second", "expected"),
    [
        ("Foo", ["Foo: 1"], ["foo: 1", "Bar: 2"], True),
        ("Foo", ["Foo: 1"], ["Foo: 2"], False),
        ("Foo", ["Foo: 1"], [], False),
        ("Foo", [], ["Foo: 1"], False),
        ("Foo", [], ["Foo:"], False),
        ("Foo", [], [], True),
        ("Foo, Bar", ["Foo: 1", "Bar: 2"], ["Bar: 2", "Foo: 1"], True),
        ("Foo, Bar", ["Foo: 1", "Bar: 2"], ["Foo: 1", "Bar: 3"], False),
        ("Foo", ["Foo: 1, 2"], ["Foo: 1", "Foo: 2"], True),
        ("Foo", ["Foo: 1,2"], ["Foo:  1,  2 "], True),
        ("Foo", ["Foo: 1, 2"], ["Foo: 2, 1"], False),
        ("Foo", ['Foo: "a, b"'], ['Foo: "a,b"'], False),
        ("Foo", ["Foo: a"], ["Foo: A"], False),
        ("Accept-Language", ["Accept-Language: en, de"], ["Accept-Language: de,EN"], True),
        ("Accept-Language", ["Accept-Language: en, de"], ["Accept-Language: en;q=1.0, de;q=1"], True),
        ("Accept-Language", ["Accept-Language: en, de"], ["Accept-Language: en, de;q=0.5"], False),
    ],
)
def test_selecting_fields_match(vary: str, first: list[str], second: list[str], expected: bool) -> None:
    assert selects(vary, first, second) is expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("fr;q=0.5, de;q=1.0", True),
        ("DE", True),
        ("fr, de;q=0.9", False),
        ("fr, de", False),
        ("de-AT", False),
        ("de;q=0", False),
    ],
)
def test_the_language_a_client_likes_best_is_as_good_as_a_match(asked: str, expected: bool) -> None:
    stored = keep(
        "Cache-Control: max-age=60",
        "Vary: Accept-Language",
        "Content-Language: de",
        asked=get("Accept-Language: en, de"),
    )
    asking = get(f"Accept-Language: {asked}")
    assert (decide([stored], asking, after(0), POLICY).action is Action.HIT) is expected
    assert decide([stored], asking, after(0), Policy(match_language=False)).action is Action.FORWARD


def test_accept_encoding_does_not_select_among_bodies_we_can_code_again() -> None:
    assert selects("Accept-Encoding", ["Accept-Encoding: gzip"], ["Accept-Encoding: br"])
    assert selects("Accept-Encoding", ["Accept-Encoding: gzip"], [])
    gzipped = ("Cache-Control: max-age=60", "Vary: Accept-Encoding", "Content-Encoding: gzip")
    decoded = keep(*gzipped, asked=get("Accept-Encoding: gzip"), coding="gzip")
    opaque = keep(*gzipped, asked=get("Accept-Encoding: gzip"))
    for line, expected in (("gzip", Action.HIT), ("br", Action.FORWARD)):
        asking = get(f"Accept-Encoding: {line}")
        assert decide([decoded], asking, after(0), POLICY).action is Action.HIT
        assert decide([opaque], asking, after(0), POLICY).action is expected


def test_two_variants_are_both_found() -> None:
    control = ("Cache-Control: max-age=60", "Vary: Foo")
    one, two = keep(*control, asked=get("Foo: 1")), keep(*control, asked=get("Foo: 2"))
    assert decide([one, two], get("Foo: 1"), after(0), POLICY).stored is one
    assert decide([one, two], get("Foo: 2"), after(0), POLICY).stored is two


def test_a_vary_that_came_after_does_not_hide_an_older_response_without_one() -> None:
    plain = keep("Cache-Control: max-age=60", date=-10)
    varied = keep("Cache-Control: max-age=60", "Vary: Foo", asked=get("Foo: 1"))
    assert decide([plain, varied], get("Foo: 2"), after(0), POLICY).stored is plain


def test_secret_fields_are_not_kept_with_a_response() -> None:
    asked = headers("Cookie: a=b", "Authorization: x", "Foo: 1", "foo: 2", "Bar: 3")
    kept = selecting_fields(asked, headers("Vary: cookie, authorization", "vary: FOO"))
    assert kept == headers("Foo: 1", "foo: 2")
    assert selecting_fields(asked, headers("Vary: *")) == ()


def test_replay_takes_the_variant_that_disagrees_least() -> None:
    one = keep("Vary: Foo, Bar", asked=get("Foo: 1", "Bar: 1"))
    two = keep("Vary: Foo, Bar", asked=get("Foo: 2", "Bar: 1"), date=-5)
    assert nearest([one, two], headers("Foo: 2", "Bar: 1")) is two
    assert nearest([one, two], headers("Foo: 2", "Bar: 9")) is two
    assert nearest([one, two], headers("Foo: 9", "Bar: 9")) is one
    assert nearest([], ()) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"gzip, br;q=0.5, *;q=0", {b"gzip": 1000, b"br": 500, b"*": 0}),
        (b"a;level=1;Q=0.25", {b"a": 250}),
        (b"a;q=2, b;q=0.1234, c;q=x", {b"a": 0, b"b": 0, b"c": 0}),
        (b"a;q=0.5, A;q=1", {b"a": 500}),
        (b"", {}),
    ],
)
def test_weights(line: bytes, expected: dict[bytes, int]) -> None:
    assert preferences(line) == expected
