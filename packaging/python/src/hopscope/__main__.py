"""`python -m hopscope`: the engine's command line."""

import sys

from ._process import pass_through

if __name__ == "__main__":
    sys.exit(pass_through(sys.argv[1:]))
