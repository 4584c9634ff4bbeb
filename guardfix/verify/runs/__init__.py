"""Running programs: copies of their folders, made-up models, processes within limits."""
