"""`python3 -m ensurepip`."""

print("pip is a command of this sandbox: there is nothing to install")
