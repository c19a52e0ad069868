"""The methods by name. What a method needs is imported when it is asked for: listing them costs nothing."""

import importlib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from extract.protocol import Extractor, Segmenter


class Method(NamedTuple):
    """An entry of the list of methods: where it is, on what it rests, and in a line what it does."""

    name: str
    kind: str
    """`extractor` or `segmenter`."""
    where: str
    """`module:class`, imported when first asked for."""
    needs: str
    """`page`: judges a page alone; `class`: wants several pages of one class; `site`: judges a page alone, and better
    with others of its site."""
    extra: str
    """The optional extra of the distribution that it needs, or an empty string."""
    summary: str
    source: str


_ROWS = """
Pagemason          | extractor | default.pagemason:Pagemason       | site  |        | site evidence and the page's own, the default | Pagemason
ContentExtractor   | extractor | methods.content:ContentExtractor  | class |        | blocks with a similar one on few pages of the class (IBDF) | Debnath et al. 2005
FeatureExtractor   | extractor | methods.feature:FeatureExtractor  | page  |        | the one block with most of the desired features | Debnath et al. 2005
K-FeatureExtractor | extractor | methods.feature:KFeatureExtractor | page  |        | the high cluster of blocks with the desired features | Debnath et al. 2005
L-Extractor        | extractor | methods.linear:LExtractor         | page  |        | a linear SVM over block features | Debnath et al. 2005
InfoDiscoverer     | extractor | methods.entropy:InfoDiscoverer    | class |        | blocks whose terms have low entropy over the class (LH) | Lin, Ho 2002
Shingling          | extractor | methods.shingling:Shingling       | class |        | what is no fragment shared by pages of the class | Ramaswamy et al. 2004
k-MIB              | extractor | methods.wisdom:KMib               | page  |        | the k richest nodes of the information coverage tree (WISDOM) | Kao, Ho, Chen 2005
StructureTree      | extractor | methods.structure:StructureTree   | class |        | nodes whose styles differ over the site (compressed structure tree) | Yi, Liu 2003
StyleTree          | extractor | methods.style:StyleTree           | class |        | nodes whose styles and contents differ over the site (Site Style Tree) | Yi, Liu, Li 2003
CETR-TM            | extractor | methods.cetr:CetrTm               | page  |        | lines with a high tag ratio, by a threshold | Weninger, Hsu, Han 2010
CETR-KM            | extractor | methods.cetr:CetrKm               | page  |        | lines with a high tag ratio, by k-means | Weninger, Hsu, Han 2010
CETR-2D            | extractor | methods.cetr:Cetr2d               | page  |        | tag ratio and its change, k-means with a centroid at the origin | Weninger, Hsu, Han 2010
KeyPatterns        | extractor | methods.patterns:KeyPatterns      | page  |        | blocks of repeated tag patterns with many important tags | key pattern segmentation
MountainModel      | extractor | methods.mountain:MountainModel    | page  |        | ridges of high cells, by a classifier | Bing et al. 2008
FixedPS            | segmenter | segmenters.windows:FixedPS        | page  |        | windows of 200 words | Cai et al. 2004
DomPS              | segmenter | segmenters.windows:DomPS          | page  |        | nodes of certain tags | Cai et al. 2004
VIPS               | segmenter | segmenters.vips:Vips              | page  | vision | visual blocks of the rendered page | Cai et al. 2003
CombPS             | segmenter | segmenters.vips:CombPS            | page  | vision | visual blocks cut into windows | Cai et al. 2004
"""  # noqa: E501


def _method(row: str) -> Method:
    name, kind, where, needs, extra, summary, source = (cell.strip() for cell in row.split("|"))
    return Method(name, kind, f"extract.{where}", needs, extra, summary, source)


METHODS: dict[str, Method] = {method.name: method for method in map(_method, _ROWS.strip().splitlines())}
"""Every method by name, in the order in which they are printed."""

DEFAULT_METHOD = "Pagemason"


def names(kind: str = "extractor") -> list[str]:
    """Return the names of the extractors or of the segmenters."""
    return [method.name for method in METHODS.values() if method.kind == kind]


def extractor(name: str = DEFAULT_METHOD, **parameters: Any) -> "Extractor[Any]":
    """Return the extractor of that name. ValueError for an unknown name or parameter, in a sentence."""
    made: Extractor[Any] = _make(name, "extractor", parameters)
    return made


def segmenter(name: str, **parameters: Any) -> "Segmenter":
    """Return the segmenter of that name. ValueError for an unknown name or parameter, in a sentence."""
    made: Segmenter = _make(name, "segmenter", parameters)
    return made


def method_of(name: str, kind: str = "extractor") -> Method:
    """Return the entry of that name. ValueError, with the nearest name or all of them, for an unknown one."""
    method = METHODS.get(name)
    if method is not None and method.kind == kind:
        return method
    known = names(kind)
    near = get_close_matches(name.lower(), [each.lower() for each in known], n=1, cutoff=0.5)
    hint = next((f"; did you mean {each}?" for each in known if near and each.lower() == near[0]), "")
    raise ValueError(f"{name!r} is no {kind}{hint or ': one of ' + ', '.join(known) + ' expected'}")


def _make(name: str, kind: str, parameters: dict[str, Any]) -> Any:
    module, _, attribute = method_of(name, kind).where.partition(":")
    factory = getattr(importlib.import_module(module), attribute)
    try:
        return factory(**parameters)
    except TypeError as exc:
        raise ValueError(f"{name}: {exc}") from exc
