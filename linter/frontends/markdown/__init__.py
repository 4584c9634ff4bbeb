"""C++ in the code blocks of Markdown and reStructuredText."""
