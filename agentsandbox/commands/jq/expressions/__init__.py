"""Each kind of expression as code: functions of the compiler, the node and the scope."""
