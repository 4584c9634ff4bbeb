"""`torch.testing._internal`: the part of PyTorch's own test helpers that extensions' tests use."""
