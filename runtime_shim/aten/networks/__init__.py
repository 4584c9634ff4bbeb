"""Ops of layers: convolutions, pooling, normalizations, activations, losses, attention."""
