"""Languages: how a text becomes facts."""
