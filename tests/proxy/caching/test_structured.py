"""RFC 9213 and RFC 9651: targeted fields are structured dictionaries."""

import pytest

from proxy.caching.directives import LONGEST, Directives
from proxy.caching.structured import Value, dictionary, targeted


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"", {}),
        (b"a", {"a": True}),
        (b"a=1, b=-2 ,\tc=3.5", {"a": 1, "b": -2, "c": 3.5}),
        (b"a=?0, b=?1", {"a": False, "b": True}),
        (b'a="x\\"y", b=tok/en, c=:aGk=:', {"a": b'x\\"y', "b": b"tok/en", "c": b"hi"}),
        (b"a;x;y=1, b=2;z", {"a": True, "b": 2}),
        (b'a=(1 "x";q=1 t);p, b', {"a": True, "b": True}),
        (b"a=@1659578233", {"a": 1659578233}),
        (b"a=1, a=2", {"a": 2}),
    ],
)
def test_dictionaries_parse(line: bytes, expected: dict[str, Value]) -> None:
    assert dictionary([line]) == expected


@pytest.mark.parametrize(
    "line",
    [
        *(b"A=1", b"a =1", b"a= 1", b"a=1,", b",a", b"a=1 b", b"a,&&", b"a=1;;", b"\xff"),
        *(b'a="x', b"a=(1", b"a=:!:", b"a=?2", b"a=1234567890123456", b"a=1.2345", b"a=1234567890123.5"),
    ],
)
def test_what_is_no_dictionary_is_none(line: bytes) -> None:
    assert dictionary([line]) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"max-age=60, no-store", Directives(max_age=60, no_store=True)),
        (b"private=(a b), no-cache=x", Directives(private=True, no_cache=True)),
        (b"no-store=?0", Directives()),
        (b"public=1", Directives()),
        (b"public, immutable", Directives(public=True, immutable=True)),
        (b"max-age=999999999999", Directives(max_age=LONGEST)),
        (b"max-age=-1", Directives(max_age=0)),
        (b"max-age=1.5", None),
        (b"max-age", None),
        (b"", None),
    ],
)
def test_targeted_directives(line: bytes, expected: Directives | None) -> None:
    assert targeted([line]) == expected


def test_lines_are_one_dictionary() -> None:
    assert targeted([b"max-age=1", b"private"]) == Directives(max_age=1, private=True)
