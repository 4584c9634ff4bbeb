"""Fixes of Python findings: libcst rewrites the structure of a statement, and the difference becomes edits."""
