"""A project's own tests, before and after."""
