"""Work on a whole store: compaction, collection, eviction, purging, checking. What it needs is in `store.parts`."""
