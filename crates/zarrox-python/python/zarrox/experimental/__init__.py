"""Experimental features of zarr-python 3, which may change."""
