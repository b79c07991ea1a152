"""Data types whose elements are NumPy's."""
