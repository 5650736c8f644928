"""Policies as they are written, and as they are followed."""
