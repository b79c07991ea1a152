"""Nodes as people see them: reports and trees."""
