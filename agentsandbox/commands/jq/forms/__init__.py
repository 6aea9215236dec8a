"""Built-in functions that take expressions, not values: functions of the compiler and of the codes
of their arguments.
"""
