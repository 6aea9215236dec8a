"""Users and groups: id, whoami, groups, who."""
