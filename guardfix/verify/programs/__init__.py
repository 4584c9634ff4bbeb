"""Which programs there are, what each is built from, and what the migration makes of it."""
