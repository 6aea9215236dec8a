"""What makes a skill trustworthy: audits, lock files, proposals that people decide on."""
