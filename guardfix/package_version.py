"""The version of guardfix."""

VERSION = "0.1.0"
