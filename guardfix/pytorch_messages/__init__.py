"""What PyTorch says of guards that are in the wrong place, with causes and cures. Imports nothing of guardfix."""
