"""One file for each rule that has a fix, named as the rule's file in `linter/rules/`."""
