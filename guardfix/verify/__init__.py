"""Did the rewrite change what a program does, and was the old behaviour wrong?

`programs` finds programs, `scratch` copies and migrates them, `runs` runs them, `traces` compares what they did,
`verdicts` says what that means, `report` tells.
"""
