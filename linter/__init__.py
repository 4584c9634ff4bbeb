"""Finds: files -> facts -> findings.

`files` knows which files there are and what is in them, `frontends` turn a text into `facts`, `analysis` joins the
facts of a project, `decision` says what should replace a guard, and `rules` make findings; `engine` is the whole path.
"""
