"""Our speed and size beside the peers', in one run."""
