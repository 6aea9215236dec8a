"""WebAssembly guests whose system calls are answered by the sandbox."""
