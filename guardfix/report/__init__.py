"""The report for a browser: one page with all findings, which needs no network."""
