"""tar: archives of the ustar, GNU and pax formats."""
