"""What holds for any request and any response, hostile ones included."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.model import Headers
from proxy import caching
from proxy.caching import SECOND, Action, Keeping, Policy, Request, Response, Stored
from proxy.caching.dates import parse, render
from proxy.caching.directives import parse as parse_directives
from proxy.caching.ranges import UNSATISFIABLE, span
from proxy.caching.structured import dictionary
from tests.proxy.caching.build import URL, T

bounded = settings(max_examples=80, deadline=None)

POLICIES = st.builds(
    Policy,
    heuristic_fraction=st.floats(0, 1),
    heuristic_max_seconds=st.integers(0, 10**12),
    cookies_ignored=st.sampled_from([(), ("a",), ("*",)]),
    never_cache=st.sampled_from([(), ("a.test",), ("b*",)]),
    targeted_cache_control=st.sampled_from([(), ("CDN-Cache-Control",)]),
    drop_parameters=st.sampled_from([(), ("a*",)]),
    sort_query=st.booleans(),
    store_with_cookie=st.booleans(),
    store_set_cookie=st.booleans(),
    store_authorized=st.booleans(),
)

DIRECTIVES = [
    *("no-store", "no-cache", 'no-cache="a"', "private", "public", "must-revalidate", "proxy-revalidate"),
    *("must-understand", "immutable", "only-if-cached", "max-stale", "max-age", "s-maxage", "min-fresh"),
    *("max-age=60", "max-age=-1", "max-age=99999999999", "s-maxage=60", "max-stale=60", "min-fresh=60", "x=y"),
    *("stale-while-revalidate=60", "stale-if-error=60", 'max-age="60"', '"', "=", ""),
]
DATES = ["0", "Thu, 18 Aug 2050 02:01:18 GMT", "Thursday, 18-Aug-50 02:01:18 GMT", "Thu Aug  8 02:01:18 1950"]
NAMES = [
    *("cache-control", "CDN-Cache-Control", "Pragma", "Expires", "Date", "Age", "Last-Modified", "ETag", "Vary"),
    *("Cookie", "Set-Cookie", "Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Range"),
    *("Content-Location", "Location", "If-None-Match", "If-Modified-Since", "If-Range", "If-Match", "Range"),
    *("Accept-Encoding", "Accept-Language", "Content-Language", "Content-Type", "X-Other"),
]
VALUES = st.one_of(
    st.lists(st.sampled_from(DIRECTIVES), max_size=5).map(", ".join),
    st.sampled_from(DATES),
    st.integers(-100, 2**40).map(lambda seconds: render(T + seconds * SECOND).decode()),
    st.integers(-(2**40), 2**70).map(str),
    st.sampled_from(["*", '"a"', 'W/"a"', 'W/"a", "b"', "gzip, br;q=0.5", "de, en;q=0", "bytes=0-5", "a=b", "/x"]),
    st.lists(st.sampled_from(NAMES), max_size=4).map(", ".join),
).map(lambda text: text.encode("latin-1"))
FIELDS: st.SearchStrategy[Headers] = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(NAMES).map(str.encode), st.binary(max_size=8)),
        st.one_of(VALUES, st.binary(max_size=40)),
    ),
    max_size=12,
).map(tuple)
INSTANTS = st.one_of(st.integers(0, 2**52), st.integers(-(10**9), 10**9).map(lambda delta: T + delta))
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "OPTIONS", "", "get", "M-SEARCH"])
URLS = st.one_of(st.just(URL), st.text(max_size=30), st.text(max_size=20).map(lambda path: "http://a.test/" + path))
REQUESTS = st.builds(Request, METHODS, URLS, FIELDS, st.booleans())
STATUSES = st.one_of(st.just(200), st.integers(0, 1000))
RESPONSES = st.builds(Response, STATUSES, FIELDS, INSTANTS, INSTANTS, st.booleans(), st.binary(max_size=30))


def kept(response: Response, request: Request, policy: Policy) -> Stored:
    """Return any response as stored, whether or not it may be."""
    selecting = caching.selecting_fields(request.headers, response.headers)
    return caching.remember(response, selecting, policy)


@bounded
@given(REQUESTS, REQUESTS, RESPONSES, RESPONSES, INSTANTS, POLICIES, st.integers(0, 2**40))
def test_no_rule_raises(
    first: Request, second: Request, old: Response, new: Response, now: int, policy: Policy, size: int
) -> None:
    caching.judge(first, old, policy)
    caching.invalidated(first, old)
    stored, other = kept(old, first, policy), kept(new, second, policy)
    caching.decide([stored, other], second, now, policy)
    caching.nearest([stored, other], second.headers)
    coding = caching.coding_for(stored, second, ("br", "gzip"))
    caching.answer(stored, second, size, now, coding)
    caching.conditional(second.headers, [stored, other])
    caching.selected([stored, other], new)
    caching.head_agrees(stored, new)
    caching.freshen(stored, second, new, policy)
    caching.shares(stored, second, now, policy)
    caching.may_wait(second, policy)
    caching.usable_on_error(stored, second, now, policy, new.status)
    caching.ttl_seconds(stored, now)
    caching.key_of_url(second.url, policy)


@bounded
@given(REQUESTS, RESPONSES, INSTANTS, st.integers(0, 2**50), POLICIES)
def test_age_and_lifetime_are_never_negative_and_age_only_grows(
    request: Request, response: Response, now: int, later: int, policy: Policy
) -> None:
    stored = kept(response, request, policy)
    assert stored.lifetime >= 0
    assert 0 <= stored.age(now) <= stored.age(now + later)
    assert stored.staleness(now) >= 0
    if now < stored.fresh_until:
        assert stored.age(now) < stored.lifetime


@bounded
@given(
    st.integers(0, 2**33), st.integers(-(10**6), 10**6), st.integers(0, 100), st.integers(0, 2**40), FIELDS, POLICIES
)
def test_a_stored_answer_is_never_younger_than_it_says(
    said: int, dated: int, took: int, since: int, fields: Headers, policy: Policy
) -> None:
    """Its Age is at least what it came with, what its Date shows and what it took to come, plus the time since."""
    own = ((b"Age", b"%d" % said), (b"Date", render(T - dated * SECOND)))
    response = Response(200, (*fields, *own), T - took * SECOND, T)
    stored = caching.remember(response, (), policy)
    found = caching.answer(stored, Request("GET", URL), 10, T + since * SECOND)
    (age,) = (int(value) for name, value in found.headers if name == b"Age")
    assert age >= max(min(said, 2**31) + took, dated) + since
    assert age == stored.age(T + since * SECOND) // SECOND


ORDER = (Keeping.NEVER, Keeping.PRIVATE, Keeping.SHARED)


@bounded
@given(REQUESTS, RESPONSES, POLICIES, st.lists(st.tuples(st.sampled_from([b"Cache-Control", b"Pragma"]), VALUES)))
def test_no_request_directive_makes_an_unstorable_response_storable(
    request: Request, response: Response, policy: Policy, said: list[tuple[bytes, bytes]]
) -> None:
    without = Request(request.method, request.url, _undirected(request.headers), request.has_body)
    with_directives = Request(request.method, request.url, (*without.headers, *said), request.has_body)
    strictest = caching.judge(without, response, policy).keeping
    assert ORDER.index(caching.judge(with_directives, response, policy).keeping) <= ORDER.index(strictest)


def _undirected(fields: Headers) -> Headers:
    return tuple(pair for pair in fields if pair[0].lower() not in (b"cache-control", b"pragma"))


@bounded
@given(FIELDS, FIELDS, INSTANTS)
def test_no_request_gets_a_response_unvalidated_that_asks_to_be(asked: Headers, fields: Headers, now: int) -> None:
    response = Response(200, ((b"Cache-Control", b"no-cache, max-age=60"), *fields), T, T)
    request = Request("GET", URL, asked)
    decision = caching.decide([kept(response, request, Policy())], request, now, Policy())
    assert decision.action not in (Action.HIT, Action.REFRESH)


@bounded
@given(RESPONSES, st.sampled_from(["cache-control: private", "CACHE-CONTROL: no-store", "set-cookie: a=b"]))
def test_what_a_response_forbids_is_not_shared(response: Response, line: str) -> None:
    name, _, value = line.encode().partition(b": ")
    said = tuple((field, text.replace(b"must-understand", b"")) for field, text in response.headers)
    forbidding = Response(response.status, (*said, (name, value)), T, T)
    assert caching.judge(Request("GET", URL), forbidding, Policy()).keeping is not Keeping.SHARED


@bounded
@given(RESPONSES, st.sampled_from([b"cookie", b"COOKIE"]), st.binary(max_size=10))
def test_what_a_cookie_brought_is_not_shared(response: Response, name: bytes, cookie: bytes) -> None:
    asked = Request("GET", URL, ((name, cookie),))
    assert caching.judge(asked, response, Policy()).keeping is not Keeping.SHARED


@bounded
@given(st.binary(max_size=60), st.integers(0, 2**40))
def test_a_range_lies_in_the_body(value: bytes, size: int) -> None:
    for text in (value, b"bytes=" + value):
        found = span(text, size)
        assert found is None or found == UNSATISFIABLE or 0 <= found[0] < found[1] <= size


@bounded
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=5), st.integers(0, 40))
def test_ranges_that_join_are_sent_as_one(pairs: list[tuple[int, int]], size: int) -> None:
    """What is sent are exactly the bytes that were asked for."""
    asked = [(min(pair), max(pair)) for pair in pairs]
    wanted = {at for first, last in asked for at in range(first, last + 1) if at < size}
    found = span(b"bytes=" + b", ".join(b"%d-%d" % pair for pair in asked), size)
    if found == UNSATISFIABLE:
        assert not wanted
    elif found is not None:
        assert set(range(*found)) == wanted


@bounded
@given(st.integers(-62_000_000_000, 250_000_000_000))
def test_every_second_has_a_date_that_is_read_back(seconds: int) -> None:
    assert parse(render(seconds * SECOND), T) == seconds * SECOND


@bounded
@given(st.text(max_size=20), st.text(max_size=20), st.integers(0, 70000), st.text(max_size=40), POLICIES)
def test_a_key_is_printable_ascii(scheme: str, host: str, port: int, target: str, policy: Policy) -> None:
    key = caching.key_of("http", host, port, target, policy)
    assert key.isascii()
    assert key.isprintable()
    assert " " not in key


@bounded
@given(FIELDS, FIELDS)
def test_an_update_twice_is_an_update(old: Headers, new: Headers) -> None:
    once = caching.updated(old, new)
    assert sorted(caching.updated(once, new)) == sorted(once)


LONG = 65_536
HOSTILE = [
    b'"' * LONG,
    b'"\\' * (LONG // 2),
    b'a="' + b'\\"' * (LONG // 2),
    b"," * LONG,
    b'",' * (LONG // 2),
    b"a=" * (LONG // 2),
    b" " * LONG,
    b"9" * LONG,
    b"max-age=1," * (LONG // 10),
    b"a=(" + b"1 " * (LONG // 2),
    b"a=(" + b";a" * (LONG // 2),
    b"a" + b";a=1" * (LONG // 4),
    b"x" * LONG,
    b";q=" * (LONG // 3),
    b'W/"' * (LONG // 3),
    b"bytes=" + b"0-1," * (LONG // 4),
    bytes(range(256)) * (LONG // 256),
    b", ".join(b"name-%d" % number for number in range(1000)),
]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: repr(value[:12]))
def test_long_values_cost_little(value: bytes) -> None:
    """Every field that is looked at has this value on two lines; a quadratic reading would take minutes."""
    fields: Headers = tuple((name.encode(), value) for name in NAMES for _ in range(2))
    readers: list[Callable[[list[bytes]], object]] = [parse_directives, dictionary]
    policy = Policy(targeted_cache_control=("CDN-Cache-Control",), cookies_ignored=("a*",), never_cache=("a*",))
    started = time.process_time()
    for read in readers:
        read([value, value])
    request, response = Request("GET", URL, fields), Response(200, fields, T, T)
    caching.judge(request, response, policy)
    stored = kept(response, request, policy)
    caching.decide([stored, stored], request, T, policy)
    caching.answer(stored, request, 10, T)
    caching.coding_for(caching.remember(response, (), policy, coding="gzip"), request, ("gzip",))
    caching.freshen(stored, request, response, policy)
    caching.nearest([stored], request.headers)
    assert time.process_time() - started < 2.0
