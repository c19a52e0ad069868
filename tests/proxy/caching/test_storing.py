"""RFC 9111, section 3: whether a response may be stored, and by whom it may be seen."""

import pytest

from proxy.caching import Judgement, Keeping, Policy, judge
from proxy.caching.storing import bypasses, is_login
from tests.proxy.caching.build import URL, date, get, reply

FRESH = "Cache-Control: max-age=60"
POLICY = Policy()
SHARED, PRIVATE, NEVER = Keeping.SHARED, Keeping.PRIVATE, Keeping.NEVER


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], Judgement(SHARED)),
        ([FRESH], Judgement(SHARED)),
        (["Cache-Control: no-cache"], Judgement(SHARED)),
        (["Cache-Control: no-store, max-age=60"], Judgement(PRIVATE, "no-store")),
        (["Cache-Control: private"], Judgement(PRIVATE, "private")),
        (['Cache-Control: private="x", max-age=60'], Judgement(PRIVATE, "private")),
        (["Cache-Control: public, private"], Judgement(PRIVATE, "private")),
        ([FRESH, "Set-Cookie: a=b"], Judgement(PRIVATE, "Set-Cookie")),
        ([FRESH, "Vary: *"], Judgement(PRIVATE, "Vary: *")),
        ([FRESH, "Vary: Foo, *"], Judgement(PRIVATE, "Vary: *")),
        ([FRESH, "Vary:", "Vary: *"], Judgement(PRIVATE, "Vary: *")),
        ([FRESH, "Vary: Accept, COOKIE"], Judgement(PRIVATE, "Vary: cookie")),
        ([FRESH, "Vary: Authorization"], Judgement(PRIVATE, "Vary: authorization")),
        ([FRESH, "Vary: " + ", ".join(f"x{number}" for number in range(1000))], Judgement(PRIVATE, "Vary: *")),
        ([FRESH, "Vary: Accept-Encoding"], Judgement(SHARED)),
    ],
)
def test_what_a_response_says(lines: list[str], expected: Judgement) -> None:
    assert judge(get(), reply(*lines), POLICY) == expected


@pytest.mark.parametrize("status", [200, 203, 204, 299, 301, 302, 404, 499, 500, 503, 599])
def test_any_final_status_is_stored_with_a_lifetime(status: int) -> None:
    assert judge(get(), reply(FRESH, status=status), POLICY).keeping is SHARED


@pytest.mark.parametrize(("status", "expected"), [(200, SHARED), (404, SHARED), (302, PRIVATE), (500, PRIVATE)])
def test_without_a_lifetime_the_status_decides(status: int, expected: Keeping) -> None:
    assert judge(get(), reply(status=status), POLICY).keeping is expected


@pytest.mark.parametrize("status", [100, 103, 101, 206, 304, 999])
def test_interim_partial_and_304_responses_are_never_kept(status: int) -> None:
    assert judge(get(), reply(FRESH, status=status), POLICY).keeping is NEVER


@pytest.mark.parametrize(
    ("status", "control", "expected"),
    [
        (200, "must-understand, max-age=60", SHARED),
        (200, "must-understand, no-store, max-age=60", SHARED),
        (599, "must-understand, max-age=60", PRIVATE),
        (599, "must-understand, no-store, max-age=60", PRIVATE),
    ],
)
def test_must_understand_takes_the_place_of_no_store(status: int, control: str, expected: Keeping) -> None:
    assert judge(get(), reply(f"Cache-Control: {control}", status=status), POLICY).keeping is expected


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        ("max-age=60", PRIVATE),
        ("public, max-age=60", SHARED),
        ("must-revalidate, max-age=60", SHARED),
        ("s-maxage=60", SHARED),
        ("public, private", PRIVATE),
    ],
)
def test_a_response_to_authorization_needs_a_word_of_the_origin(control: str, expected: Keeping) -> None:
    asked, response = get("Authorization: Basic x"), reply(f"Cache-Control: {control}")
    assert judge(asked, response, POLICY).keeping is expected
    assert judge(asked, response, Policy(store_authorized=False)).keeping is PRIVATE


def test_a_response_to_a_login_cookie_is_stored_only_if_the_settings_say_so() -> None:
    asked, response = get("cookie: session=1; theme=dark"), reply("Cache-Control: public, max-age=60")
    assert judge(asked, response, POLICY) == Judgement(PRIVATE, "request with a cookie")
    assert judge(asked, response, Policy(cookies_ignored=("theme",))).keeping is PRIVATE
    assert judge(asked, response, Policy(cookies_ignored=("theme", "sess*"))).keeping is SHARED
    assert judge(asked, response, Policy(store_with_cookie=True)).keeping is SHARED
    assert judge(asked, reply("Cache-Control: private"), Policy(store_with_cookie=True)).keeping is PRIVATE


def test_set_cookie_is_stored_only_if_the_settings_say_so() -> None:
    lax = Policy(store_set_cookie=True)
    assert judge(get(), reply(FRESH, "Set-Cookie: a=b"), POLICY).keeping is PRIVATE
    assert judge(get(), reply(FRESH, "Set-Cookie: a=b"), lax).keeping is SHARED
    assert judge(get(), reply("Cache-Control: no-store", "Set-Cookie: a=b"), lax).keeping is PRIVATE


@pytest.mark.parametrize(
    ("cookie", "ignored", "expected"),
    [
        (b"a=b", (), True),
        (b"a=b; _ga=1", ("_ga",), True),
        (b"_ga=1; _gid=2", ("_g*",), False),
        (b"", ("_ga",), False),
        (b"session", ("_ga",), True),
        (b"_ga=1, session=2", ("_ga",), True),
    ],
)
def test_a_login_cookie_is_any_that_is_not_ignored(cookie: bytes, ignored: tuple[str, ...], expected: bool) -> None:
    assert is_login(cookie, ignored) is expected


@pytest.mark.parametrize(
    "path", ["/a.css", "/account/x.js", "/account%2Fx.css", "/a.css;", "/account/..%2fx.PNG", "/a.css?q=1"]
)
def test_a_page_under_the_name_of_a_static_file_is_not_stored_when_a_cookie_came(path: str) -> None:
    lax = Policy(store_with_cookie=True)
    asked = get("Cookie: a=b", url="http://a.test" + path)
    page = reply(FRESH, "Content-Type: text/html")
    assert judge(asked, page, lax).keeping is PRIVATE
    assert judge(asked, reply(FRESH, "Content-Type: text/css"), lax).keeping is SHARED
    assert judge(get("Cookie: a=b"), page, lax).keeping is SHARED


def test_html_is_recognised_by_its_beginning_too() -> None:
    asked, lax = get("Cookie: a=b", url="http://a.test/x.css"), Policy(store_with_cookie=True)
    lying = reply(FRESH, "Content-Type: text/css", beginning=b"\n <!DOCTYPE html><p>")
    assert judge(asked, lying, lax).keeping is PRIVATE


def test_a_path_extension_never_makes_anything_storable() -> None:
    asked = get("Cookie: a=b", url="http://a.test/x.css")
    assert judge(asked, reply(FRESH, "Content-Type: text/css"), POLICY).keeping is PRIVATE


def test_a_certificate_that_does_not_verify_is_never_kept() -> None:
    assert judge(get(), reply(FRESH, verified=False), POLICY) == Judgement(NEVER, "certificate not verified")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("bank.test", True),
        ("BANK.test", True),
        ("bank.test.", True),
        ("www.bank.test", False),
        ("a.shop.test", True),
        ("shop.test", False),
        ("bank.test:8443", True),
    ],
)
def test_never_cache_hosts(host: str, expected: bool) -> None:
    policy = Policy(never_cache=("Bank.test", "*.shop.test"))
    url = f"https://{host}/x"
    assert bypasses(url, policy) is expected
    assert (judge(get(url=url), reply(FRESH), policy).keeping is NEVER) is expected


def test_a_get_with_a_body_and_other_methods_are_never_kept() -> None:
    assert judge(get(has_body=True), reply(FRESH), POLICY).keeping is NEVER
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "M-SEARCH", "get"):
        assert judge(get(method=method), reply(FRESH), POLICY).keeping is NEVER


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([FRESH, f"Content-Location: {URL}"], SHARED),
        ([f"Expires: {date(60)}", "Content-Location: /page"], SHARED),
        ([FRESH, "Content-Location: /other"], NEVER),
        ([FRESH, "Content-Location: http://b.test/page"], NEVER),
        ([FRESH], NEVER),
        ([f"Content-Location: {URL}"], NEVER),
    ],
)
def test_a_post_is_kept_when_it_says_it_is_the_page_itself(lines: list[str], expected: Keeping) -> None:
    assert judge(get(method="POST", has_body=True), reply(*lines), POLICY).keeping is expected


def test_a_request_with_no_store_is_not_stored() -> None:
    assert judge(get("Cache-Control: no-store"), reply(FRESH), POLICY) == Judgement(PRIVATE, "request no-store")


def test_a_targeted_field_decides_storing_as_well() -> None:
    policy = Policy(targeted_cache_control=("CDN-Cache-Control",))
    fresh = "CDN-Cache-Control: max-age=60"
    assert judge(get(), reply(fresh, "Cache-Control: no-store"), policy).keeping is SHARED
    assert judge(get(), reply("CDN-Cache-Control: private", FRESH), policy).keeping is PRIVATE
    assert judge(get(), reply("CDN-Cache-Control: no-store, !", FRESH), policy).keeping is SHARED
    assert judge(get(), reply(fresh, "Cache-Control: no-store"), POLICY).keeping is PRIVATE
