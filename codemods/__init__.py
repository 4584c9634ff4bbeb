"""Changes: findings -> edits -> files.

`plan` gives findings their fixes, `rewrite` turns a file's fixes into its new text, `write` puts it on disk.
"""
