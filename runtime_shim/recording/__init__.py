"""Running one program in its own process and writing down what it did.

`python -P -m guardfix.runtime_shim.recording SPECIFICATION` runs one program. The specification is a JSON file (see
`process.Specification`); the recording is one JSON object a line (see `recorder`).
"""
