"""Terms without stop words and stemmed, as InfoDiscoverer wants its features (Lin, Ho 2002, section 4.2)."""

from functools import lru_cache

import snowballstemmer

from blocks.text import terms

_STOP = """a about above after again against all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each few for from further had has have having he her here
hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off on
once only or other our ours ourselves out over own s same she should so some such t than that the their theirs them
themselves then there these they this those through to too under until up us very was we were what when where which
while who whom why will with would you your yours yourself yourselves"""

STOP_WORDS = frozenset(_STOP.split())
"""English function words; `s` and `t` are what an apostrophe leaves of "it's" and "don't"."""

_stemmer = snowballstemmer.stemmer("porter")


@lru_cache(maxsize=1 << 17)
def stem(term: str) -> str:
    """Return the stem of a lower-case term by Porter's algorithm; terms that are not ASCII stay as they are.

    >>> stem("relational"), stem("hopping")
    ('relat', 'hop')
    """
    if not term.isascii() or not term.isalpha() or len(term) > 40:
        return term
    stemmed: str = _stemmer.stemWord(term)
    return stemmed


def features(text: str) -> list[str]:
    """Return the stems of a text's terms in order, stop words left out."""
    return [stem(term) for term in terms(text) if term not in STOP_WORDS]
