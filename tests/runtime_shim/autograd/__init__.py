"""What the engine does besides gradients: hooks, chosen inputs, saved tensors, views that strides cannot tell of.

Every expectation holds for the shim and for PyTorch 2.13 itself (marker `oracle`).
"""
