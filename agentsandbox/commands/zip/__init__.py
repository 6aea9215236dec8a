"""zip, unzip and zipinfo."""
