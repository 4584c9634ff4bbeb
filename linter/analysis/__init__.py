"""What the facts of a project say: who calls, registers and inherits, what calls are, what guards cover."""
