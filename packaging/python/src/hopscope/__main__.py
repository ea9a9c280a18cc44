"""`hopscope-engine` and `python -m hopscope`: the engine's command line."""

import sys

from ._process import pass_through


def main() -> int:
    return pass_through(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
