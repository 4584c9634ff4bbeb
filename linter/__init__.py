"""Finds: files -> facts -> findings.

`check` is the whole path; its parts are in `walk` (paths -> files), `scan` (files -> facts), `project`
(facts joined), `decide` (what should stand instead) and `rules` (facts -> findings).
"""
