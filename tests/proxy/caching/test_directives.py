"""RFC 9111, section 5.2: Cache-Control as it is met, well formed and not."""

import pytest

from proxy.caching.directives import LONGEST, NOTHING, Directives, parse


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"max-age=60", Directives(max_age=60)),
        (b"MaX-aGe=60", Directives(max_age=60)),
        (b'max-age="60"', Directives(max_age=60)),
        (b"max-age=0060", Directives(max_age=60)),
        (b"max-age=60, s-maxage=5", Directives(max_age=60, s_maxage=5)),
        (b" max-age=60 ,, no-store ,", Directives(max_age=60, no_store=True)),
        (b"No-StOrE", Directives(no_store=True)),
        (b"foobar, x=y, max-age=60", Directives(max_age=60)),
        (b'x="max-age=60", max-age=1', Directives(max_age=1)),
        (b'max-age=1, x="a\\", max-age=60"', Directives(max_age=1)),
        (b"stale-while-revalidate=5, stale-if-error=6", Directives(stale_while_revalidate=5, stale_if_error=6)),
        (b"max-stale", Directives(max_stale=LONGEST)),
        (b"max-stale=5", Directives(max_stale=5)),
        (b'no-cache="A, b"', Directives(no_cache_fields=(b"a", b"b"))),
        (b"no-cache=a", Directives(no_cache_fields=(b"a",))),
        (b"", NOTHING),
    ],
)
def test_well_formed_directives_are_read(line: bytes, expected: Directives) -> None:
    assert parse([line]) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"max-age", Directives(max_age=0)),
        (b"max-age=", Directives(max_age=0)),
        (b"max-age=-60", Directives(max_age=0)),
        (b"max-age='60'", Directives(max_age=0)),
        (b"max-age=60.5", Directives(max_age=0)),
        (b"max-age=a60", Directives(max_age=0)),
        (b"max-age=60a", Directives(max_age=0)),
        (b"max-age =60", Directives(max_age=0)),
        (b"max-age= 60", Directives(max_age=0)),
        (b'max-age="60', Directives(max_age=0)),
        (b"max-age=60, max-age=5", Directives(max_age=5)),
        (b"max-age=5, max-age=60", Directives(max_age=5)),
        (b"min-fresh=x", Directives(min_fresh=LONGEST)),
        (b"min-fresh=5, min-fresh=9", Directives(min_fresh=9)),
        (b"max-stale=x", Directives(max_stale=0)),
        (b"stale-if-error=x", Directives(stale_if_error=0)),
        (b"no-store=x", Directives(no_store=True)),
        (b"no-store =", Directives(no_store=True)),
        (b'private="set-cookie"', Directives(private=True)),
        (b"no-cache=", Directives(no_cache=True)),
        (b'no-cache=""', Directives(no_cache=True)),
        (b"no-cache= a", Directives(no_cache=True)),
        (b'no-cache=a"b"', Directives(no_cache=True)),
        (b'no-cache="a"b', Directives(no_cache=True)),
        (b'no-cache="', Directives(no_cache=True)),
        (b'no-cache="a', Directives(no_cache=True)),
        (b'x="a, private', Directives(private=True)),
        (b'x=", max-age=60, public, max-stale', Directives(max_age=0, max_stale=0)),
        (b'max-age=60, x="\\", no-store', Directives(max_age=60, no_store=True)),
        (b"public=x", NOTHING),
        (b"immutable=1", NOTHING),
    ],
)
def test_what_is_malformed_repeated_or_contradictory_caches_less(line: bytes, expected: Directives) -> None:
    assert parse([line]) == expected


def test_a_line_that_is_not_closed_hides_no_other() -> None:
    assert parse([b'x="', b"private", b'"']) == Directives(private=True)


def test_lines_are_one_list() -> None:
    assert parse([b"max-age=60", b"no-cache, private"]) == Directives(max_age=60, no_cache=True, private=True)


@pytest.mark.parametrize("digits", [b"2147483648", b"99999999999", b"9" * 65_000])
def test_seconds_beyond_the_longest_count_as_the_longest(digits: bytes) -> None:
    assert parse([b"max-age=" + digits]).max_age == LONGEST == 2**31
