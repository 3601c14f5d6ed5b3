"""What is written from the commands and docs: manual pages, and the documentation site."""
