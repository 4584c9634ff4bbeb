"""Files: which there are, what is in them, and which comments in them silence a finding."""
