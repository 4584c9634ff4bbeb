"""Fixes -> files: overlaps, diffs, writing."""
