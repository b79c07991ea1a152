"""Displays nodes as reports and trees."""
