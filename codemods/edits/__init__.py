"""Parts of edits: statements, includes, names of variables, regions of libcst trees."""
