"""The signals: each file holds the kinds that speak for one context, strongest first where both are found at once.

`guardfix.linter.decision.signal_registry` finds them by where they are; there is no list to edit.
"""
