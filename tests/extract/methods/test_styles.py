"""The merged tree of a site, and the two methods that read it: StructureTree and StyleTree."""

import math

import pytest

from extract.methods.structure import StructureTree
from extract.methods.style import StyleTree, leaf_importance
from extract.methods.styles import Element, entropy, placed, site_styles
from extract.protocol import Page, page_of
from tests.extract.pages import news_pages


def pages(*bodies: str) -> list[Page]:
    return [page_of(f"http://a.test/{n}", body.encode()) for n, body in enumerate(bodies)]


def elements(*bodies: str) -> dict[str, Element]:
    """Return the element nodes of the first page by the name of the tag."""
    made = pages(*bodies)
    evidence = site_styles(made)
    return {made[0].tree.names[node]: evidence.elements[name] for name, node, _ in placed(made[0], made[0].tree)}


def test_equal_styles_are_merged_and_others_are_not() -> None:
    found = elements("<body><table width=800></table><img>", "<body><table width=800></table><img>", "<body><table>")
    assert (found["body"].n_pages, sorted(found["body"].styles.values())) == (3, [1, 2])
    assert found["table"].n_pages == 2


def test_display_attributes_make_a_style_and_others_do_not() -> None:
    assert elements("<body><p id=a>x", "<body><p id=b>x")["p"].n_pages == 2
    assert elements("<body><p class=a>x", "<body><p class=b>x")["p"].n_pages == 1


def test_scripts_are_not_displayed() -> None:
    assert elements("<body><script>1</script><p>x", "<body><p>x")["p"].n_pages == 2


def test_the_importance_of_a_node_is_the_entropy_of_its_styles() -> None:
    body = elements("<body><p>x", "<body><p>x", "<body><hr>", "<body><ul></ul>")["body"]
    expected = -(0.5 * math.log(0.5, 4) + 2 * 0.25 * math.log(0.25, 4))
    assert body.style_entropy() == pytest.approx(expected)
    assert elements("<body><p>x", "<body><p>x")["body"].style_entropy() == 0.0
    assert elements("<body><p>x")["body"].style_entropy() == 1.0


def test_the_importance_of_a_leaf_is_what_the_entropy_of_its_terms_leaves() -> None:
    assert leaf_importance(elements("<body><p>same", "<body><p>same")["#text"]) == 0.0
    assert leaf_importance(elements("<body><p>one", "<body><p>two")["#text"]) == 1.0
    assert leaf_importance(elements("<body><p>same one", "<body><p>same two")["#text"]) == pytest.approx(2 / 3)


def test_entropy_is_between_0_and_1() -> None:
    assert entropy(0, 0, 5) == 0.0
    assert entropy(3, 3 * math.log(3), 5) == 0.0
    assert entropy(5, 0.0, 5) == pytest.approx(1.0)


def test_a_page_counts_once() -> None:
    page = pages("<p>x")[0]
    assert site_styles([page, page]).n_pages == 1


@pytest.mark.parametrize("method", [StructureTree(), StyleTree()])
def test_what_is_the_same_all_over_the_site_is_noise(method: StructureTree | StyleTree) -> None:
    site = news_pages(8)
    text = method.extract(site[4], method.prepare(site)).text
    assert "The mayor of" in text
    assert "Copyright" not in text
    assert "Weather" not in text


def test_what_no_page_has_shown_before_is_no_noise() -> None:
    site = news_pages(8)
    new = page_of("http://a.test/new", b"<body><table><tr><td>Never seen before</table>")
    assert StyleTree().extract(new, site_styles(site)).text == "Never seen before"
