import locale

try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error as e:
    print("E", e)
try:
    print(locale.setlocale(locale.LC_ALL, "de_DE.UTF-8"))
except locale.Error as e:
    print(e)
print(f"{1234567.891:,.2f}", locale.format_string("%d", 1234, grouping=True), f"{1234:n}")
