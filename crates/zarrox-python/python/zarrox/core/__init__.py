"""Internal modules of the interfaces."""
