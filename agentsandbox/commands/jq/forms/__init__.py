"""Built-in functions of expressions: functions of the compiler and of the arguments' codes."""
