"""From a call to a result: what an op is described by, and the layers that it goes through."""
