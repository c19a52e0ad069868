"""One rule of a file is changed; comments and all other lines stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.views.rules import Rule, RuleError, Rules, read_rules, written
from proxy.views.rules_text import with_rule

TEXT = """\
# What we read every morning.

# the paper
- host: "*.paper.test"   # all its hosts
  view: content  # not the front page
  keep: [main, "#comments"]    # selectors
  drop:
    - .share     # buttons
    # asked for by the office:
    - aside > ul

# the forum
-   host: forum.test
    view: full
# the end
"""


def test_only_the_lines_concerned_change() -> None:
    rule = read_rules(TEXT).by_host["*.paper.test"]
    added = "block:" + "0a" * 16
    changed = with_rule(TEXT, Rule(rule.host, "full", "", rule.keep, ("aside > ul", added)))
    expected = TEXT.replace("view: content  #", "view: full     #").replace("    - .share     # buttons\n", "")
    assert changed == expected.replace("    - aside > ul\n", f"    - aside > ul\n    - {added}\n")


def test_rules_come_and_go_with_the_comments_of_others_in_place() -> None:
    new = with_rule(TEXT, Rule("new.test", "content", keep=("main",)))
    assert new.startswith(TEXT)
    assert with_rule(new, Rule("new.test")) == TEXT
    without = with_rule(TEXT, Rule("*.paper.test"))
    assert without == TEXT[: TEXT.index("- host")] + TEXT[TEXT.index("\n# the forum") :]
    assert with_rule(TEXT, Rule("forum.test", "content")) == TEXT.replace("view: full", "view: content")
    assert with_rule("# nothing yet", Rule("a.test", "full")) == "# nothing yet\n- host: a.test\n  view: full\n"
    assert with_rule("# none\n", Rule("a.test")) == "# none\n"


@pytest.mark.parametrize(
    "text",
    [
        '[{host: a.test, view: full}, {"host": b.test}]',
        "-\n  host: a.test\n  view: full\n- host: b.test\n",
        "- &x\n  host: a.test\n  keep: &k [main]\n- host: b.test\n  keep: *k\n",
        "- host: a.test\n  view: full\n- host: c.test\n- host: a.test\n  view: content\n",
        "--- # a document\n- host: a.test\r\n  drop: .share\r\n...\n",
        "- {host: a.test, view: full}\n- host: b.test\n  keep: >\n    main\n",
        "- host: a.test # \u2028 \x85\n  keep:\n  - main\n",
    ],
)
def test_however_a_file_is_written_its_rules_are_right(text: str) -> None:
    for rule in (Rule("a.test", "content", drop=("nav",)), Rule("a.test"), Rule("z.test", "full")):
        assert read_rules(with_rule(text, rule)) == read_rules(text).with_rule(rule)


def test_what_is_no_file_of_rules_is_refused() -> None:
    with pytest.raises(RuleError):
        with_rule("- [", Rule("a.test"))


HOSTS = st.sampled_from(["a.test", "*.b.test", "/c+/", "ü.test", "#d", "- e", "on", "'f'"])
PARTS = st.lists(st.sampled_from(["main", "#x", ".share", "aside > ul", "block:" + "0f" * 16]), max_size=3, unique=True)
RULES = st.builds(
    lambda host, view, keep, drop: Rule(host, view, "", tuple(keep), tuple(drop)),
    HOSTS,
    st.sampled_from(["", "full", "content"]),
    PARTS,
    PARTS,
)


@given(
    st.lists(RULES, max_size=4), RULES, st.lists(st.sampled_from(["# one", "", "  # two"]), min_size=20, max_size=20)
)
def test_comments_stay_whatever_is_changed(rules: list[Rule], rule: Rule, comments: list[str]) -> None:
    lines = written(Rules(tuple(rules))).splitlines()
    text = "".join(f"{comment}\n{line}\n" for line, comment in zip(lines, comments, strict=False))
    changed = with_rule(text, rule)
    assert read_rules(changed) == read_rules(text).with_rule(rule)
    if len({each.host for each in rules}) == len(rules) and rule.host not in {each.host for each in rules}:
        assert changed.startswith(text)
