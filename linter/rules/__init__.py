"""The rules, one file each; `guardfix.linter.rule` finds them by their file names."""
