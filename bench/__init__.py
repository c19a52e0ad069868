"""Our speed and size beside the peers', in one run."""

import blocks  # noqa: F401 - before numpy
