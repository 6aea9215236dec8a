import readline, rlcompleter, cmd, shlex, fnmatch, glob, filecmp, difflib, linecache, fileinput


class C(cmd.Cmd):
    prompt = "> "

    def do_hi(self, a):
        print("hi", a)

    def do_EOF(self, a):
        return True


C().cmdloop("welcome")
print(shlex.split("a 'b c'"), shlex.quote("it's"), fnmatch.filter(["a.py", "b"], "*.py"))
print("".join(difflib.unified_diff(["a\n", "b\n"], ["a\n", "c\n"], "x", "y")))
