"""What backward will run: nodes and edges, saved tensors, and how views and writes rewrite history."""
