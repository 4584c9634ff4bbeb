"""The abstract machine: it runs functions on abstract tensors and tells what happens in them (`run_flow`)."""
