"""nn.functional, einsum, modules and optimizers against what PyTorch 2.13 did with the same programs.

`cases` holds the programs, `observe` runs one on a torch-like module, `recorded.json` holds what PyTorch did.
"""
