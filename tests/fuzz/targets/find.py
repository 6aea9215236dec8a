"""The expressions of find."""

from tests.fuzz.target import commands

WORDS = r""". d -H -L -P -O3 -name -iname -path -regex -iregex -regextype posix-extended -type f d l f,d -size +1k -1c -empty -newer -newermt -mtime -atime +1 -mmin -1 -perm -644 /222 u+x -user -uid -links -inum -samefile -depth -maxdepth 1 -mindepth -prune -quit -xdev -print -print0 -printf %p %f %s %TY %A+ %m %M %d %l %y %% \n %10p %-5f %.3s -fprintf -ls -fls -exec -execdir -ok echo {} + ; -delete -o -a -not ! ( ) , -true -false -readable -writable -executable -daystart -used -lname -context -fstype""".split()

TARGET = commands(
    "find", ("find",), WORDS, ("find", ".", "-type", "f", "-printf", "%p %s %TY-%Tm\\n"),
    ("find", ".", "(", "-name", "*.json", "-o", "-size", "+1k", ")", "-exec", "echo", "{}", "+"),
    ("find", "-newermt", "2 days ago", "-delete"),
)  # fmt: skip
