"""RFC 9111, section 4: whether a stored response answers a request."""

import pytest

from proxy.caching import Action, Policy, Stored, decide, usable_on_error
from tests.proxy.caching.build import after, get, keep

POLICY = Policy()


def stored_with(control: str, date: int | None = 0) -> Stored:
    """Return a stored response with this Cache-Control and a validator."""
    return keep(f"Cache-Control: {control}", 'ETag: "a"', date=date)


def test_a_fresh_response_is_a_hit_until_its_lifetime_ends() -> None:
    stored = stored_with("max-age=60")
    assert decide([stored], get(), after(59.9), POLICY).action is Action.HIT
    assert decide([stored], get(), after(60), POLICY) == (Action.VALIDATE, stored, "stale")


def test_a_stale_response_without_validator_is_fetched_anew_and_may_stand_in() -> None:
    stored = keep("Cache-Control: max-age=60")
    assert decide([stored], get(), after(60), POLICY) == (Action.FORWARD, stored, "stale")


def test_nothing_stored_is_a_uri_miss() -> None:
    decision = decide([], get(), after(0), POLICY)
    assert (decision.action, decision.fwd) == (Action.FORWARD, "uri-miss")


@pytest.mark.parametrize(
    ("line", "action"),
    [
        ("Cache-Control: no-cache", Action.VALIDATE),
        ("Pragma: no-cache", Action.VALIDATE),
        ("Pragma: other", Action.HIT),
        ("Cache-Control: max-age=0", Action.VALIDATE),
        ("Cache-Control: max-age=10", Action.VALIDATE),
        ("Cache-Control: max-age=30", Action.HIT),
        ("Cache-Control: max-age=soon", Action.VALIDATE),
        ("Cache-Control: min-fresh=30", Action.HIT),
        ("Cache-Control: min-fresh=31", Action.VALIDATE),
        ("Cache-Control: no-store", Action.BYPASS),
        ("Cache-Control: only-if-cached", Action.HIT),
        ("If-Match: *", Action.FORWARD),
    ],
)
def test_request_directives_on_a_response_that_is_30_s_old_and_fresh_for_60(line: str, action: Action) -> None:
    assert decide([stored_with("max-age=60")], get(line), after(30), POLICY).action is action


def test_a_request_that_is_only_if_cached_is_refused_when_it_would_go_forward() -> None:
    asked = get("Cache-Control: only-if-cached")
    assert decide([], asked, after(0), POLICY).action is Action.REFUSE
    assert decide([stored_with("max-age=1")], asked, after(2), POLICY).action is Action.REFUSE
    swr = stored_with("max-age=1, stale-while-revalidate=60")
    assert decide([swr], asked, after(2), POLICY).action is Action.REFRESH


def test_a_head_is_answered_by_a_stored_get() -> None:
    assert decide([stored_with("max-age=60")], get(method="HEAD"), after(0), POLICY).action is Action.HIT


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "M-SEARCH", "get"])
def test_other_methods_pass_by(method: str) -> None:
    decision = decide([stored_with("max-age=60")], get(method=method), after(0), POLICY)
    assert (decision.action, decision.fwd) == (Action.BYPASS, "method")


def test_a_get_with_a_body_passes_by() -> None:
    decision = decide([stored_with("max-age=60")], get(has_body=True), after(0), POLICY)
    assert (decision.action, decision.fwd) == (Action.BYPASS, "bypass")


def test_a_host_that_is_never_cached_passes_by() -> None:
    policy = Policy(never_cache=("a.test",))
    assert decide([stored_with("max-age=60")], get(), after(0), policy).fwd == "bypass"


def test_a_stored_public_page_answers_a_request_with_a_cookie() -> None:
    assert decide([stored_with("max-age=60")], get("Cookie: a=b"), after(0), POLICY).action is Action.HIT


@pytest.mark.parametrize("control", ["no-cache, max-age=60", "no-cache", "max-age=0", "private, max-age=60, no-cache"])
def test_a_response_that_is_never_fresh_is_validated(control: str) -> None:
    assert decide([stored_with(control)], get(), after(0), POLICY).action is Action.VALIDATE


def test_of_several_responses_the_one_with_the_latest_date_is_used() -> None:
    old, new = stored_with("max-age=600", date=-60), stored_with("max-age=60", date=-1)
    assert decide([new, old], get(), after(0), POLICY).stored is new
    assert decide([old, new], get(), after(100), POLICY).action is Action.VALIDATE


@pytest.mark.parametrize(
    ("control", "line", "action"),
    [
        ("max-age=10", "max-stale", Action.HIT),
        ("max-age=10", "max-stale=20", Action.HIT),
        ("max-age=10", "max-stale=19", Action.VALIDATE),
        ("max-age=10", "max-stale=x", Action.VALIDATE),
        ("max-age=10", "max-age=5, max-stale=25", Action.HIT),
        ("max-age=10", "max-age=5, max-stale=24", Action.VALIDATE),
        ("max-age=10, must-revalidate", "max-stale", Action.VALIDATE),
        ("max-age=10, proxy-revalidate", "max-stale", Action.VALIDATE),
        ("s-maxage=10", "max-stale", Action.VALIDATE),
        ("no-cache", "max-stale", Action.VALIDATE),
    ],
)
def test_max_stale_30_s_after_a_lifetime_of_10(control: str, line: str, action: Action) -> None:
    asked = get(f"Cache-Control: {line}")
    assert decide([stored_with(control)], asked, after(30), POLICY).action is action


@pytest.mark.parametrize(
    ("control", "seconds", "action"),
    [
        ("max-age=10, stale-while-revalidate=5", 9, Action.HIT),
        ("max-age=10, stale-while-revalidate=5", 15, Action.REFRESH),
        ("max-age=10, stale-while-revalidate=5", 16, Action.VALIDATE),
        ("max-age=10, stale-while-revalidate=5, must-revalidate", 11, Action.VALIDATE),
        ("s-maxage=10, stale-while-revalidate=5", 11, Action.VALIDATE),
        ("max-age=10, stale-while-revalidate=x", 11, Action.VALIDATE),
    ],
)
def test_stale_while_revalidate_of_rfc_5861(control: str, seconds: int, action: Action) -> None:
    assert decide([stored_with(control)], get(), after(seconds), POLICY).action is action


@pytest.mark.parametrize(
    ("line", "seconds", "action"),
    [
        ("max-age=0", 5, Action.HIT),
        ("max-age=3", 5, Action.VALIDATE),
        ("no-cache", 5, Action.VALIDATE),
        ("max-age=0", 61, Action.VALIDATE),
    ],
)
def test_a_reload_does_not_validate_what_is_immutable_and_fresh(line: str, seconds: int, action: Action) -> None:
    stored = stored_with("max-age=60, immutable")
    assert decide([stored], get(f"Cache-Control: {line}"), after(seconds), POLICY).action is action


@pytest.mark.parametrize(
    ("control", "seconds", "status", "expected"),
    [
        ("max-age=10, stale-if-error=5", 15, None, True),
        ("max-age=10, stale-if-error=5", 15, 503, True),
        ("max-age=10, stale-if-error=5", 15, 404, False),
        ("max-age=10, stale-if-error=5", 16, None, False),
        ("max-age=10, stale-if-error=x", 11, None, False),
        ("max-age=10", 11, None, True),
        ("max-age=10", 10 + 3_600, None, True),
        ("max-age=10", 11 + 3_600, None, False),
        ("max-age=10", 11, 503, False),
        ("max-age=10, must-revalidate", 11, None, False),
        ("max-age=10, proxy-revalidate, stale-if-error=5", 11, None, False),
        ("max-age=10, s-maxage=10", 11, None, False),
        ("max-age=10, no-cache", 11, None, False),
    ],
)
def test_a_stale_response_for_an_origin_that_fails(
    control: str, seconds: int, status: int | None, expected: bool
) -> None:
    stored = stored_with(control)
    assert usable_on_error(stored, get(), after(seconds), POLICY, status) is expected


def test_a_client_may_ask_for_a_stale_response_on_errors_or_refuse_it() -> None:
    stored = stored_with("max-age=10")
    assert usable_on_error(stored, get("Cache-Control: stale-if-error=60"), after(30), POLICY, 503)
    assert not usable_on_error(stored, get("Cache-Control: stale-if-error=60"), after(80), POLICY, 503)
    assert not usable_on_error(stored, get("Cache-Control: no-cache"), after(30), POLICY)
