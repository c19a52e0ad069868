"""The content view: a page as only what people came for, rendered of what the cache would have answered.

`negotiation` tells which view a request is given, `rules` what people have ruled about a host, `rules_file` follows
their file; `rendering` turns a page into a view, in a process of `pool`; `site_evidence` is what other pages of
a site tell about its blocks, `similar` which pages have
the same content, `cache` the views in memory, `responses` their header
fields; `serving` puts them together.
"""
