"""What runs PyTorch's own Python tests on the shim and on PyTorch alike; `python_suites.py` prints what passes."""
