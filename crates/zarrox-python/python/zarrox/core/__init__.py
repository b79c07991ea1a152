"""Internal modules that the interfaces share."""
