"""`enum.StrEnum`, which the standard library has since Python 3.11."""

import sys

if sys.version_info >= (3, 11):
    from enum import StrEnum
else:
    from backports.strenum import StrEnum

__all__ = ["StrEnum"]
