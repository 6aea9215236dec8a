"""Commands that a sandbox has only if its host asks for them: `sudo`, and aliases."""
