name = input("Name: ")
age = int(input("Age? "))
print(f"{name} is {age}")
try:
    input()
except EOFError as e:
    print("EOF", e)
