"""C++ in Python's string literals."""
