"""Comparing what runs recorded, and the verdict."""
