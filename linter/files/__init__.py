"""Files: which there are, what stands in them, and which comments in them silence a finding."""
