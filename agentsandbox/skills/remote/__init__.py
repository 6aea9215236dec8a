"""Skills from elsewhere: archives and indexes over HTTP, repositories over git."""
