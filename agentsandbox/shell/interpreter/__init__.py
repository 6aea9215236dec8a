"""What a script does: closures compiled from the grammar's nodes, and the state they work on."""
