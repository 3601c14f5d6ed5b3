"""Manual pages, JSON Schemas and the documentation site, written from the commands and docs."""
