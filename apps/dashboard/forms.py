"""Where a form leads when it has been taken."""


def own_path(path: str, default: str = "/") -> str:
    """Return a path of ours; the default for anything that may lead elsewhere."""
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if fine and path.isascii() else default
