"""Readers of recordings that lie in other forms: one format a file, lines or bytes in, values out."""
