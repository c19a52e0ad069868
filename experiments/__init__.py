"""The papers' experiments: data sets, metrics, plots, quality floors. Nothing imports this package."""

import blocks  # noqa: F401 - before numpy
