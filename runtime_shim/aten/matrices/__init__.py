"""Ops of matrices: products, decompositions, norms, contractions."""
