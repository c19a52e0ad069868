"""The values the rules speak of. Instants and durations are integer microseconds, instants since the epoch, UTC.

Header values that count seconds keep their unit in a name: `age_seconds`, `max_age`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from blocks.model import Headers
from proxy.caching.directives import NOTHING, Directives, parse

SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Policy:
    """What the settings decide; the names are the settings' where both have one.

    `store_with_cookie`, `store_set_cookie` and `store_authorized` let such responses be stored where RFC 9111
    allows it too. `disconnected_stale_seconds` is how long after its lifetime a response may stand in for an
    origin that cannot be reached when nothing in the response says otherwise (section 4.2.4).
    """

    heuristic_fraction: float = 0.1
    heuristic_max_seconds: int = 86_400
    cookies_ignored: tuple[str, ...] = ()
    never_cache: tuple[str, ...] = ()
    targeted_cache_control: tuple[str, ...] = ()
    drop_parameters: tuple[str, ...] = ()
    sort_query: bool = False
    store_with_cookie: bool = False
    store_set_cookie: bool = False
    store_authorized: bool = True
    disconnected_stale_seconds: int = 3_600
    match_language: bool = True


_CONTROLS = frozenset(
    (
        b"cache-control",
        b"if-match",
        b"if-modified-since",
        b"if-none-match",
        b"if-range",
        b"if-unmodified-since",
        b"pragma",
        b"range",
    )
)
_SPECIAL = _CONTROLS | {b"accept-datetime", b"authorization", b"cookie"}


@dataclass(frozen=True, slots=True)
class Request:
    """A request as received. `url` is absolute: scheme and authority of the connection, raw target.

    `special` holds the fields that the rules look at, their lines joined, by lower-case name. `plain` says that
    none of them asks the cache for anything. Both are worked out once, here: building a request of ten fields
    takes about two microseconds.
    """

    method: str
    url: str
    headers: Headers = ()
    has_body: bool = False
    special: Mapping[bytes, bytes] = field(init=False, repr=False, compare=False)
    plain: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        special: dict[bytes, bytes] = {}
        for name, value in self.headers:
            lowered = name.lower()
            if lowered in _SPECIAL:
                earlier = special.get(lowered)
                special[lowered] = value if earlier is None else earlier + b", " + value
        object.__setattr__(self, "special", special)
        object.__setattr__(self, "plain", not special or _CONTROLS.isdisjoint(special))

    @property
    def directives(self) -> Directives:
        """The request's Cache-Control; a Pragma: no-cache stands in where there is none (RFC 9111, section 5.4)."""
        if (lines := self.special.get(b"cache-control")) is not None:
            return parse((lines,))
        if b"no-cache" in self.special.get(b"pragma", b"").lower():
            return Directives(no_cache=True)
        return NOTHING


@dataclass(frozen=True, slots=True)
class Response:
    """A final response as received, with the instants its request was sent and it was received.

    `verified` is false when the origin's certificate did not verify. `beginning` is the start of the decoded
    body, as far as the caller likes to show it.
    """

    status: int
    headers: Headers
    request_time: int
    time: int
    verified: bool = True
    beginning: bytes = b""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored response, with everything worked out that answering a request needs.

    Made by `entry.remember`. `headers` are all fields as kept, `served` those that a hit repeats. `born` is the
    instant at which its age was 0, `fresh_until` the instant at which it becomes stale, 0 when it may not be used
    without validation at all. `vary` are the selecting request fields as kept, `selecting` their names in lower
    case. `coding` names the content codings that were removed from the body, `ref` is the caller's own.
    """

    status: int
    headers: Headers
    served: Headers
    request_time: int
    time: int
    born: int
    lifetime: int
    fresh_until: int
    date: int
    directives: Directives
    etag: bytes
    last_modified: int | None
    vary: Headers
    selecting: tuple[bytes, ...]
    coding: str
    invalid: bool
    ref: object = None

    def age(self, now: int) -> int:
        """Return the age at an instant (RFC 9111, section 4.2.3); a clock that went back does not make it younger."""
        return max(now, self.time) - self.born

    def age_seconds(self, now: int) -> int:
        """Return the age as the Age field says it."""
        return (max(now, self.time) - self.born) // SECOND

    def staleness(self, now: int) -> int:
        """Return how long it has been stale, 0 when it is fresh."""
        return max(0, self.age(now) - self.lifetime)


class Action(Enum):
    """What to do with a request."""

    HIT = "hit"
    """Answer with `decision.stored`."""
    REFRESH = "refresh"
    """Answer with `decision.stored`, and fetch it anew with `refreshing` fields (RFC 5861, section 3)."""
    VALIDATE = "validate"
    """Forward with `conditional` fields; a 304 makes `decision.stored`, which has a validator, the answer."""
    FORWARD = "forward"
    """Forward as it is; the response may be stored. `decision.stored` is what may stand in on an error, if any."""
    BYPASS = "bypass"
    """Forward as it is; neither the request nor the response has anything to do with the cache."""
    REFUSE = "refuse"
    """Answer 504: the client accepts a stored response only, and there is none (RFC 9111, section 5.2.1.7)."""


class Decision(NamedTuple):
    """What to do, the stored response it is about, and why the request goes forward, in the words of RFC 9211."""

    action: Action
    stored: Stored | None = None
    fwd: str = ""


class Keeping(Enum):
    """Who may see a response again."""

    SHARED = "shared"
    """Anyone whose request selects it."""
    PRIVATE = "private"
    """A shared cache may not store it."""
    NEVER = "never"
    """It may not be kept at all, whoever asks."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a response may be stored, and the reason when a shared cache may not, in a few words."""

    keeping: Keeping
    why: str = ""
