"""Small random scripts, in real bash and in the sandbox: every byte must be the same."""
