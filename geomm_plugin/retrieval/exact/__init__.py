"""Exact search: answers equal to comparing everything, found with less work."""
