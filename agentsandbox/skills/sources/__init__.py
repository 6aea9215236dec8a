"""Where skills come from: folders of the host, packages, archives, memory."""
