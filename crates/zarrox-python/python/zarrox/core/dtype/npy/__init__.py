"""Data types whose elements are NumPy scalars."""
