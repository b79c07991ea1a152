"""What zarr-python 3 tries out, and may change."""
