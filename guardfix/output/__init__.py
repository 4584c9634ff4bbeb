"""How findings are shown: `text` for people, `json` for tools."""
