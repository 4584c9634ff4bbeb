"""`guardfix serve`: a page on this machine on which code is pasted, and the report of a folder, live."""
