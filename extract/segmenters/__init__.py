"""Page segmentation for retrieval: pages cut into segments, and BM25 over them."""
