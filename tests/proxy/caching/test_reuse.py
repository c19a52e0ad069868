"""RFC 9111, section 4: whether a stored response answers a request."""

import pytest

from proxy.caching import Action, Policy, decide
from tests.proxy.caching.build import after, get, keep

POLICY = Policy()


def test_a_fresh_response_is_a_hit_until_its_lifetime_ends() -> None:
    stored = keep("Cache-Control: max-age=60")
    assert decide([stored], get(), after(59.9), POLICY).action is Action.HIT
    assert decide([stored], get(), after(60), POLICY).action is Action.VALIDATE


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
    assert decide([keep("Cache-Control: max-age=60")], get(line), after(30), POLICY).action is action
