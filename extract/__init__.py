"""Which blocks of a page are content, by many methods behind one protocol.

`protocol` says what a method takes and gives, `registry` finds one by name. `methods` has those of the papers, one
module each, `segmenters` the page segmentation for retrieval, `default` our own method. `views` writes what a method
found as HTML, Markdown, text or JSON. `classes` finds the pages of one template; `markup`, `tokens` and `tree` read
pages.
"""

import blocks  # noqa: F401 - before numpy
