"""The pack being filled, and what reading a page of it will decompress. Pure."""

from dataclasses import dataclass, field

from blocks.model import Capture
from store.packing import recipes
from store.packing.known import Form, Runs
from store.packing.matching import Tail
from store.packing.packs import EMPTY_HEAD_BYTES, Head, encode_head, head_bytes


@dataclass(slots=True)
class OpenPack:
    """The pack being filled. `base` is the pack whose bytes will be its dictionary, 0 for none."""

    tail: Tail
    base: int = 0
    captures: list[Capture] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    needs: set[int] = field(default_factory=set)
    bodies: dict[bytes, Form] = field(default_factory=dict)
    canonicals: dict[bytes, Runs] = field(default_factory=dict)
    exact: int = 0
    n_bytes: int = 0
    head_at_most: int = EMPTY_HEAD_BYTES
    """What the raw head has, at the most."""
    fields: set[bytes] = field(default_factory=set)
    beside: int = 0
    """Raw bytes of other packs, but for the base, that a capture with bytes of this one needs, at the most."""
    elsewhere: int = 0
    """Raw bytes that a capture without bytes of this pack needs, at the most."""
    tried: tuple[tuple[int, Capture, Form] | None, int] = None, 0
    """What `exact_head_with` returned last: after how many captures and for which one, and how much."""

    @property
    def id(self) -> int:
        return self.tail.id

    def put(self, capture: Capture, digest: bytes, form: Form) -> None:
        self.head_at_most += head_bytes(capture, len(form[0]), form[1], self.fields)
        if self.tried[0] == (len(self.captures), capture, form):
            self.head_at_most = self.tried[1]
        self.captures.append(capture)
        self.digests.append(digest)
        self.forms.append(form)
        self.needs.update(run[0] for run in form[0])
        self.needs.discard(self.id)
        self.n_bytes += len(capture.body)

    def head_with(self, capture: Capture, form: Form) -> int:
        """Return what the raw head has with one capture more, at the most."""
        return self.head_at_most + head_bytes(capture, len(form[0]), form[1], set(self.fields))

    def exact_head_with(self, capture: Capture, digest: bytes, form: Form) -> int:
        """Return what the raw head has with one capture more. It takes as long as `head`."""
        if self.tried[0] != (len(self.captures), capture, form):
            trial = OpenPack(self.tail, self.base, [*self.captures], [*self.digests], [*self.forms], {*self.needs})
            trial.put(capture, digest, form)
            self.tried = (len(self.captures), capture, form), len(trial.head()[0])
        return self.tried[1]

    def head(self) -> tuple[bytes, int]:
        """Return the raw head, and the bytes of the recipes in it."""
        needs = sorted(self.needs)
        sources = {self.id: 0, **{need: i + 1 for i, need in enumerate(needs)}}
        runs = [[(sources[run[0]], run[1], run[2]) for run in form[0]] for form in self.forms]
        encoded = recipes.encode(runs)
        head = Head(needs, self.captures, self.digests, tokens=[form[1] for form in self.forms])
        return encode_head(head, encoded), len(encoded)
