"""From units of the source to verdicts on blocks: the majority of visible characters decides."""

from extract.methods.cover import Unit, judge
from extract.protocol import page_of


def test_a_block_is_content_when_over_half_of_its_characters_are_selected() -> None:
    page = page_of("http://a.test/", b"<p>abcd <i>ef</i><p>&nbsp; <p>gh")
    source = page.source
    at = source.index("abcd")

    def flags(end: int) -> tuple[bool, ...]:
        return judge(page, [Unit(at, at + end, True, 1.0)], str).flags

    assert flags(3) == (False, False, False)
    assert flags(4) == (True, False, False)
    assert flags(len(source)) == (True, False, True)


def test_the_score_is_the_mean_over_visible_characters() -> None:
    page = page_of("http://a.test/", b"<p>ab<b>cd</b>")
    at = page.source.index("cd")
    assert judge(page, [Unit(at, at + 2, True, 0.5)], lambda share: f"{share:.0%}").verdicts[0] == (False, 0.25, "50%")
