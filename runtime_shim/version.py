"""`torch.version`: what was built, and for which devices."""

from __future__ import annotations

__version__ = "2.13.0+guardfix.shim"
debug = False
cuda = None
hip = None
xpu = None
rocm = None
git_version = "unknown"
