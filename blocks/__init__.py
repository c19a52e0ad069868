"""Pure functions from a page's bytes to blocks, features and similarity: no file, clock, network, database, setting."""

import os

# Matrices here are small. Threads of BLAS, which wait in loops, take four times the processor and win nothing. This is
# read when numpy is loaded, so whatever loads numpy imports this package first. A value of yours stays.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
