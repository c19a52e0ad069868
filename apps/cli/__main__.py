"""`python -m apps.cli`: the command line from a checkout."""

from apps.cli import main

if __name__ == "__main__":
    main()
