"""RFC 9111, section 4.3: what a validation asks, and what its answer changes."""

import pytest

from proxy.caching import Action, Policy, conditional, decide, freshen, head_agrees, refreshing, selected, updated
from proxy.caching.validation import MAX_ETAGS, conditions
from tests.proxy.caching.build import T, after, date, get, headers, keep, reply

POLICY = Policy()
MODIFIED = "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT"


def test_a_validation_asks_with_the_stored_validators() -> None:
    stored = keep('ETag: W/"a"', MODIFIED)
    assert conditions([stored]) == headers('If-None-Match: W/"a"', f"If-Modified-Since:{MODIFIED.split(':', 1)[1]}")
    assert conditions([keep()]) == ()
    assert conditions([keep("Last-Modified: yesterday")]) == ()


def test_a_validation_of_several_asks_for_all_their_tags_newest_first() -> None:
    candidates = [keep(f'ETag: "{number}"', date=number) for number in range(-20, 0)]
    ((name, value),) = conditions([*candidates, candidates[0]])
    assert name == b"If-None-Match"
    assert value.split(b", ") == [b'"%d"' % -number for number in range(1, MAX_ETAGS + 1)]


def test_our_conditions_take_the_place_of_the_clients() -> None:
    asked = headers('if-none-match: "x"', "If-Modified-Since: x", "Foo: 1")
    assert conditional(asked, [keep('ETag: "a"')]) == headers("Foo: 1", 'If-None-Match: "a"')
    assert conditional(asked, [keep()]) == asked


def test_a_refreshing_request_has_nothing_of_the_client_who_caused_it() -> None:
    asked = headers("Cookie: a", "Authorization: b", "Range: bytes=0-1", "If-Match: x", "Cache-Control: max-age=0")
    asked += headers('If-None-Match: "x"', "If-Range: x", "Pragma: x", "Foo: 1")
    assert refreshing(asked, keep('ETag: "a"')) == headers("Foo: 1", 'If-None-Match: "a"')
    assert refreshing(asked, keep()) == headers("Foo: 1")


def test_a_304_updates_the_stored_fields() -> None:
    kept = headers("Age: 9", "Date: x", "A: 1", "A: 2", "B: 3", 'ETag: "a"', "Content-Length: 5")
    new = headers("a: 4", "C: 5", "Content-Length: 0", 'ETag: "b"', "Connection: D", "D: 6", "Set-Cookie: e=f")
    assert updated(kept, new) == headers("B: 3", 'ETag: "a"', "Content-Length: 5", "a: 4", "C: 5")


@pytest.mark.parametrize("name", ["Content-Encoding", "Content-Length", "Content-MD5", "Content-Range", "ETag"])
def test_fields_about_the_kept_body_are_not_updated(name: str) -> None:
    assert updated(headers(f"{name}: 1"), headers(f"{name.lower()}: 2")) == headers(f"{name}: 1")


@pytest.mark.parametrize(
    "name", ["Cache-Control", "Expires", "Content-Type", "Content-Location", "X-Foo", "Content-Foo"]
)
def test_other_fields_are_updated(name: str) -> None:
    assert updated(headers(f"{name}: 1"), headers(f"{name}: 2")) == headers(f"{name}: 2")


def test_a_304_makes_the_response_fresh_again() -> None:
    stored = keep("Cache-Control: max-age=60", 'ETag: "a"', "Age: 50", "Foo: 1", date=-100)
    fresh = freshen(stored, get(), reply("Cache-Control: max-age=30", date=0), POLICY)
    assert (fresh.age_seconds(T), fresh.lifetime, fresh.etag) == (0, 30_000_000, b'"a"')
    assert decide([fresh], get(), after(29), POLICY).action is Action.HIT
    assert (b"Foo", b"1") in fresh.headers


def test_a_304_that_says_nothing_keeps_the_lifetime() -> None:
    fresh = freshen(keep("Cache-Control: max-age=60", date=-100), get(), reply(date=None), POLICY)
    assert (fresh.age_seconds(T), fresh.lifetime) == (0, 60_000_000)


@pytest.mark.parametrize("line", ["Cache-Control: private", "Cache-Control: no-store", "Vary: Cookie", "Vary: *"])
def test_a_304_that_forbids_sharing_leaves_a_response_that_is_always_validated(line: str) -> None:
    stored = keep("Cache-Control: max-age=60", 'ETag: "a"')
    fresh = freshen(stored, get(), reply(line, "X-Of: someone"), POLICY)
    assert (fresh.invalid, fresh.headers) == (True, stored.headers)
    assert decide([fresh], get(), after(0), POLICY).action is Action.VALIDATE


@pytest.mark.parametrize(
    ("asked", "line", "expected"),
    [
        ("X: 1", "X-Of: anyone", True),
        ("Cookie: a=b", "X-Of: someone", False),
        ("Cookie: _ga=b", "X-Of: anyone", True),
        ("X: 1", "Set-Cookie: a=b", False),
        ("Authorization: x", "X-Of: someone", False),
        ("Authorization: x", "Cache-Control: public", True),
    ],
)
def test_a_304_for_one_person_changes_nothing_for_others(asked: str, line: str, expected: bool) -> None:
    stored, policy = keep("Cache-Control: max-age=60"), Policy(cookies_ignored=("_ga",))
    fresh = freshen(stored, get(asked), reply(line), policy)
    assert (fresh is not stored) is expected


def test_an_invalidated_response_that_was_validated_is_used_again() -> None:
    stored = keep("Cache-Control: max-age=60")
    assert not freshen(stored, get(), reply(), POLICY).invalid


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['ETag: "a"'], 0),
        (['ETag: "b"'], 1),
        (['ETag: "x"'], None),
        (['ETag: W/"a"'], 0),
        (['ETag: W/"w"'], 2),
        ([f"Last-Modified: {date(-500)}"], 2),
        ([f"Last-Modified: {date(-1)}"], None),
        ([], None),
    ],
)
def test_a_304_selects_one_of_several_by_its_validators(lines: list[str], expected: int | None) -> None:
    candidates = [
        keep('ETag: "a"', date=-9),
        keep('ETag: "b"', date=-8),
        keep('ETag: W/"w"', f"Last-Modified: {date(-500)}", date=-7),
    ]
    found = selected(candidates, reply(*lines))
    assert found is (None if expected is None else candidates[expected])


def test_a_304_to_one_condition_speaks_of_that_response() -> None:
    stored = keep('ETag: "a"')
    assert selected([stored], reply('ETag: "b"')) is stored
    assert selected([stored], reply()) is stored


@pytest.mark.parametrize(
    ("lines", "status", "expected"),
    [
        (['ETag: "a"', "Content-Length: 5"], 200, True),
        (["X: 1"], 200, True),
        (['ETag: "b"'], 200, False),
        (["Content-Length: 6"], 200, False),
        ([f"Last-Modified: {date(-1)}"], 200, False),
        (['ETag: "a"'], 410, None),
    ],
)
def test_a_head_updates_or_invalidates(lines: list[str], status: int, expected: bool | None) -> None:
    stored = keep('ETag: "a"', MODIFIED, "Content-Length: 5")
    assert head_agrees(stored, reply(*lines, status=status)) is expected


def test_the_length_of_a_coded_body_says_nothing_to_a_head() -> None:
    stored = keep("Content-Length: 5", coding="gzip")
    assert head_agrees(stored, reply("Content-Length: 6")) is True
