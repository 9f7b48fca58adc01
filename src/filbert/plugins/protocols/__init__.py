"""Protocol plugins: how the URLs of a scheme are fetched."""
