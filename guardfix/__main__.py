"""`guardfix` and `python -m guardfix`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; ends the process with its exit status."""
    from .quick import is_clean

    answer = is_clean(sys.argv[1:])
    if answer is not None:
        sys.stdout.write(answer)
        return
    from .cli import run

    run()


if __name__ == "__main__":
    main()
