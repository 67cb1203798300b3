"""The stages of a batch in rows for a transformer."""
