"""`make` (POSIX 1003.1-2017, GNU make 4.3): bring files up to date by the rules of a makefile.

A makefile is read line by line into variables and rules (`reader`), values are expanded when they
are used (`expansion`, `functions`). The rules fill a table of files (`graph`); what a file without
a recipe is made of is searched among the pattern rules (`implicit`, `builtin`). `updating` walks
from the goals to what they need and decides what is out of date; `recipes` runs the lines of a
recipe in the shell of the sandbox. One `Run` (`build`) holds all of it for one run of make.
"""
