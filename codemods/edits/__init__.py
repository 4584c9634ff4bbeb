"""What fixes share: edits of statements, includes, names and `with` blocks, and the doubts that make a fix unsafe."""
