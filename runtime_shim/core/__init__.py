"""What everything is on: tensors, their memory and element types, thread state, errors.

Nothing here knows an op. What the classes here need from above is attached to them by the rooms above.
"""
