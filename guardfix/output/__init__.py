"""How findings are shown: `full`, `concise` and `grouped` for people, the others for tools."""
