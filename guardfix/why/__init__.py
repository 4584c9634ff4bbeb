"""From an error to its cause: `guardfix why`."""
