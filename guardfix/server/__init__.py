"""The language server: what guardfix finds, in the editor, while one types."""
