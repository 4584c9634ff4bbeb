"""Changes: findings -> edits -> files.

`fixes` hold one file for each rule that has a fix, `edits` what they share, and `apply` turns the fixes of a file into
its new text, shows it and writes it.
"""
