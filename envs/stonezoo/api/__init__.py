"""The environments as other libraries know them."""
