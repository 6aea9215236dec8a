import sys

print("Name?", flush=True)
name = input("> ")
try:
    age = int(input(f"Age of {name}? "))
except ValueError as e:
    print("bad age:", e)
    age = -1
print(f"\n{name} is {age}", sys.stdin.readline().strip(), sys.stdin.read())
input("more? ")
