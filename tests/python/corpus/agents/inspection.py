import code, ast, dis, inspect, importlib, pkgutil, types, sys, tokenize, io

print(
    ast.unparse(ast.parse("x=1+2")),
    ast.literal_eval("{'a':[1]}"),
    inspect.signature(lambda a, *, b=1: 0),
    inspect.getsource(sys.modules["__main__"])[:12],
)
m = types.ModuleType("m")
exec("y=5", m.__dict__)
print(m.y)
open("plug.py", "w").write("V=7\ndef run(): return V\n")
import importlib.util

s = importlib.util.spec_from_file_location("plug", "plug.py")
p = importlib.util.module_from_spec(s)
s.loader.exec_module(p)
print(p.run())
sys.path.insert(0, ".")
import plug

print(plug.V, plug.__file__.endswith("plug.py"))
