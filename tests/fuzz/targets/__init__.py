"""The targets, one in each module, as `TARGET`."""
