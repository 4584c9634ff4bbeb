"""What inference mode does to tensors, row by row: creation, functional ops, views, writes, copies, backward.

Every expectation holds for the shim and for PyTorch 2.13 itself (marker `oracle`), so it is proven right
wherever torch is installed.
"""
