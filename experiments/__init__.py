"""The papers' experiments: data sets, metrics, plots, quality floors. Nothing imports this package."""
