"""Trained on 6000 blocks of 400 pages of wcxb-dev (CC-BY-4.0)."""

import json

from extract.methods.svm import LinearSvm

SHIPPED = LinearSvm.of(
    json.loads("""
{"features": ["terms", "headings", "phrases", "breaks", "items", "cells", "links", "images", "objects", "frames",
"forms", "inputs", "scripts", "styles", "heads"], "means": [2.4143, 0.0973, 0.1341, 0.0239, 0.1677, 0.0269, 0.3202,
0.032, 0.0, 0.0, 0.0023, 0.0341, 0.0019, 0.0045, 0.0027], "scales": [1.4811, 0.3048, 0.4303, 0.1988, 0.6027, 0.2349,
0.673, 0.1954, 1.0, 1.0, 0.0524, 0.2341, 0.0633, 0.1069, 0.0917], "weights": [0.7372, 0.3949, 0.184, -0.0643, -0.1153,
0.0431, -0.2287, -0.0716, 0.0, 0.0, -0.0871, -0.1485, -0.0571, -0.025, -0.0678], "bias": -0.5891}
""")
)
