"""Headwater keeps SQL results true while the database underneath them changes."""

__version__ = "0.1.0"
