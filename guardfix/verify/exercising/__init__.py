"""A project's ops, called with made-up inputs before and after."""
