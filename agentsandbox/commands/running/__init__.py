"""Programs run in another way: env, timeout, nohup, nice, xargs."""
