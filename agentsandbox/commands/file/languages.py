"""The languages and kinds of text that `file` distinguishes, in the order in which it tries them.

A rule is (description, MIME type, patterns). All patterns must be found in the first 8 KiB of a
text. A pattern is searched from the beginning; one that begins with "&" after the match of the
one before.
"""

from __future__ import annotations

import re

_SEEN = 8192
"""The part of a text that rules are applied to."""

_SHELL, _JS, _CPP, _C = "text/x-shellscript", "application/javascript", "text/x-c++", "text/x-c"
_PYTHON, _RUBY, _PERL, _HTML = "text/x-script.python", "text/x-ruby", "text/x-perl", "text/html"
_MAIL, _TEX, _PLAIN, _DIFF = "message/rfc822", "text/x-tex", "text/plain", "text/x-diff"

_PYTHON_WORDS, _RUBY_WORDS, _JS_WORDS = (
    "Python script text executable",
    "Ruby script text",
    "JavaScript source",
)
_BASH_WORDS = "Bourne-Again shell script text executable"
_BIN = rb"(?:/usr(?:/local)?)?/bin/"
_END = rb"^[ \t\v\f\r]*end(?:\s+[;#][^\n]*)?$"


def _program(paths: bytes, blank: bytes = rb"[ \t]*", after: bytes = rb"(?=[^!-~])") -> bytes:
    """Return the pattern of a first line that names one of the programs, followed by `after`."""
    return rb"\A#!" + blank + b"(?:" + paths + b")" + after


Step = bytes
"""A pattern; one that begins with "&" continues after the match of the one before."""

_RULES: tuple[tuple[str, str, tuple[Step, ...]], ...] = (
    ("GNU awk script text executable", "text/x-gawk", (_program(_BIN + rb"gawk"),)),
    (_BASH_WORDS, _SHELL, (_program(_BIN + rb"bash|/usr/local/bash|/usr/bin/env[ \t]+bash"),)),
    (
        "fish shell script text executable",
        _SHELL,
        (_program(_BIN + rb"fish|/usr/bin/env[ \t]+fish"),),
    ),
    (
        "Paul Falstad's zsh script text executable",
        _SHELL,
        (_program(_BIN + rb"zsh|/usr/bin/env[ \t]+zsh"),),
    ),
    ("Node.js script executable", _JS, (rb"\A#!(?:/usr/bin/env node|[ \t]*(?:/usr)?/bin/node)",)),
    ("HTML document text", _HTML, (rb"(?i)\A\s*<!doctype\s*html",)),
    ("awk script text executable", "text/x-awk", (_program(rb"(?:/usr)?/bin/awk"),)),
    ("SMTP mail text", _MAIL, (rb"(?i)\A(?:delivered-to|return-path):",)),
    ("MIME entity text", _PLAIN, (rb"\AMIME-Version:",)),
    ("C shell script text executable", _SHELL, (_program(rb"/bin/csh"),)),
    ("Korn shell script text executable", _SHELL, (_program(rb"/bin/ksh"),)),
    ("GNU gettext message catalogue text", "text/x-po", (rb"\nmsgid", rb"&\nmsgstr")),
    ("POSIX shell script text executable", _SHELL, (_program(rb"/bin/sh"),)),
    (
        "unified diff output text",
        _DIFF,
        (rb"(?s)\A.{0,4096}?--- ", rb"&\A[^\n]{0,1024}\n\+\+\+ [^\n]{0,1024}\n@@"),
    ),
    ("RFC 822 mail text", _MAIL, (rb"\AReceived:",)),
    (_JS_WORDS, _JS, (rb"^export (?:function|class|default|const|var|let|async) ",)),
    ("WebVTT subtitles", "text/vtt", (rb"\AWEBVTT", rb"&[0-9]{2}:[0-9]{2}\.[0-9]{3} -->")),
    ("HTML document text", _HTML, (rb"(?i)\A\s*<html>",)),
    (_JS_WORDS, _JS, (rb"^(?:const|var|let)[^=\n]*=(?=[^\n]*require\()",)),
    (_JS_WORDS, _JS, (rb"^(?:import|export)[^\n]* from ",)),
    (_JS_WORDS, _JS, (rb"module(?:\.|\[[\"'])exports[^\n]*=",)),
    ("news or mail text", _MAIL, (rb"\A(?:From|Date):",)),
    (
        _RUBY_WORDS,
        _RUBY,
        (
            rb"^[ \t\v\f\r]*(?:class|module)\s[A-Z]",
            rb"(?:modul|includ)e [A-Z]|def [a-z]",
            b"&" + _END,
        ),
    ),
    (_JS_WORDS, _JS, (rb"^(?:import|export) [\"']\./",)),
    (_JS_WORDS, _JS, (rb"\((?:async )?function[( ]",)),
    (
        "Perl5 module source text",
        _PLAIN,
        (rb"^package[ \t]+[0-9A-Za-z_:]+ *;", rb"\Apackage|^1 *;|^(?:use|sub|my) [^\n]*[(;{=]"),
    ),
    (_JS_WORDS, _JS, (rb"\"use strict\"|'use strict'",)),
    ("C++ source text", _CPP, (rb"^using\s+(?:namespace )?std(?:::)?[A-Za-z]*\s*;",)),
    ("HTML document text", _HTML, (rb"\A\s*<!--", rb"&(?i:<!doctype\s+html|<html>)")),
    ("C++ source text", _CPP, (rb"^namespace\s+[_A-Za-z]{1,30}\s*\{",)),
    ("C++ source text", _CPP, (rb"^[ \t\v\f\r]*protected:",)),
    ("PHP script text", "text/x-php", (rb"(?i)\A<\?php",)),
    ("C++ source text", _CPP, (rb"^[ \t\v\f\r]*template\s*<[^\n]*>[ \t\v\f\r]*$",)),
    (_JS_WORDS, _JS, (rb"^require\([\"']",)),
    (_JS_WORDS, _JS, (rb"^(?:(?!typeof)[^\n])*+typeof[^\n]*[!=]==",)),
    (
        _PYTHON_WORDS,
        _PYTHON,
        (_program(rb"/usr(?:/local)?/bin/python|/usr/bin/env[ \t]*python", after=b""),),
    ),
    ("C++ source text", _CPP, (rb"^[ \t\v\f\r]*virtual\s++[^\n]*[};][ \t\v\f\r]*$",)),
    ("C++ source text", _CPP, (rb"^[ \t\v\f\r]*private:",)),
    (
        _RUBY_WORDS,
        _RUBY,
        (rb"^[ \t\v\f\r]*require\s'[A-Za-z_/.]+'", rb"def [a-z]| do$", b"&" + _END),
    ),
    ("C++ source text", _CPP, (rb"^[ \t\v\f\r]*public:",)),
    ("Ruby script text executable", _RUBY, (_program(rb"/usr(?:/local)?/bin/ruby", after=b""),)),
    ("Ruby script text executable", _RUBY, (rb"\A#! ?/usr/bin/env ruby",)),
    ("Objective-C source text", "text/x-objective-c", (rb"^#import\s+[\"<]",)),
    ("LaTeX document text", _TEX, (rb"\\documentstyle",)),
    (
        "PHP script text executable",
        "text/x-php",
        (_program(rb"/usr(?:/local)?/bin/php", after=b""),),
    ),
    (_PYTHON_WORDS, _PLAIN, (rb'\A"""',)),
    (
        _RUBY_WORDS,
        _RUBY,
        (rb"^[ \t\v\f\r]*(?:class|module)\s[A-Z]", rb"&^[ \t\v\f\r]*end(?:\s+[;#if][^\n]*)?$"),
    ),
    ("LaTeX 2e document text", _TEX, (rb"\\documentclass",)),
    (_PYTHON_WORDS, _PYTHON, (rb"def __init__", rb"&(?s)\A.{0,64}?self")),
    (_PYTHON_WORDS, _PLAIN, (rb"if __name__", rb"&(?s)\A.{0,64}?'__main__'")),
    (_PYTHON_WORDS, _PYTHON, (rb"if __name__", rb'&(?s)\A.{0,64}?"__main__"')),
    (_PYTHON_WORDS, _PYTHON, (rb"^class [_A-Za-z]+(?:\([^\n]*\))? *:(?:[ \t]+pass)?$",)),
    ("LaTeX document text", _TEX, (rb"\\(?:section|chapter)",)),
    ("XML document text", "text/xml", (rb"(?i)\A<\?xml",)),
    ("C++ source text", _CPP, (rb"^[ \t\v\f\r]*class\s+[0-9A-Za-z:_]+\s*\{", rb"&\};?$")),
    ("", "", (rb"try:",)),
    (
        _PYTHON_WORDS,
        _PYTHON,
        (rb"^\s{0,50}def {1,50}[_a-zA-Z]{1,100}", rb"&\([A-Za-z*_, ]{0,255}\):$"),
    ),
    ("HTML document text", _HTML, (rb"(?i)<(?:script[> ]|a href=)",)),
    ("C++ source text", _CPP, (rb"^#include", rb"^class\s+", rb"\{[.*]\}(?:;)?$")),
    ("C source text", _C, (rb"^#include",)),
    ("makefile script text", "text/x-makefile", (rb"^(?:CFLAGS|VPATH|LDFLAGS|all:|\.PRECIOUS)",)),
    (_PYTHON_WORDS, _PYTHON, (rb"^from[ \t]+[A-Za-z0-9_.]+[ \t]+import",)),
    ("HTML document text", _HTML, (rb"(?i)<(?:title|style|table|head|html)[> ]",)),
    (
        "Lua script text executable",
        "text/x-lua",
        (rb"\A#! */usr(?:/local)?/bin/lua|\A#! ?/usr/bin/env lua",),
    ),
    (
        "Tcl/Tk script text executable",
        "text/x-tcl",
        (rb"\A#! */usr(?:/local)?/bin/(?:wish|tclsh(?![!-~]))|\A#! ?/usr/bin/env wish",),
    ),
    (
        "Tcl script text executable",
        "text/x-tcl",
        (rb"\A#! */usr(?:/local)?/bin/tcl|\A#! ?/usr/bin/env tcl",),
    ),
    ("TeX document text", _TEX, (rb"\\input",)),
    ("LaTeX document text", _TEX, (rb"\\begin",)),
    (_RUBY_WORDS, _RUBY, (rb"^[ \t\v\f\r]*def [a-z]|def [A-Za-z]+::[a-z]", b"&" + _END)),
    ("HTML document text", _HTML, (rb"(?i)<!doctype\s+html",)),
    ("SubRip", "application/x-subrip", (rb"\A1[\r\n]+0[01]:[0-9]{2}:[0-9]{2},[0-9]{3} -->",)),
    ("C source text", _C, (rb"^#\s*(?:if|ifn)def", rb"&^#\s*endif$")),
    ("C source text", _C, (rb"^[ \t\v\f\r]*float(?: \*|\*)[^\n]+;[ \t\v\f\r]*$",)),
    ("C source text", _C, (rb"^union\s+",)),
    ("Java source text", "text/x-java", (rb"main\(", rb"&(?s)\A.{0,64}?String")),
    ("C source text", _C, (rb"main\(", rb"&\)\s*\{")),
    ("DOS batch file text", "text/x-msdos-batch", (rb"(?i)\A@(?: ?echo off|rem|set )",)),
    ("Exuberant Ctags tag file text", _PLAIN, (rb"\A!_TAG",)),
    ("diff output text", _DIFF, (rb"\Adiff ",)),
    ("troff or preprocessor input text", "text/troff", (rb"\A\\\"",)),
    ("C source text", _C, (rb"^[ \t\v\f\r]*char(?: \*|\*)[^\n]+;[ \t\v\f\r]*$",)),
    ("context diff output text", _DIFF, (rb"\A\*\*\* ", rb"&\n--- ")),
    (
        "troff or preprocessor input text",
        "text/troff",
        (rb"\A(?:\.\\\"|'\\\")|^\.[A-Za-z][A-Za-z0-9]$",),
    ),
    (_RUBY_WORDS, _RUBY, (rb"^[ \t\v\f\r]*require\s'[A-Za-z_/.]+'",)),
    (_RUBY_WORDS, _RUBY, (rb"^[ \t\v\f\r]*include (?:[A-Z]+[a-z]*::)",)),
    ("troff or preprocessor input text", "text/troff", (rb"^\.[A-Za-z][A-Za-z0-9][ \t]",)),
    ("M3U playlist text", _PLAIN, (rb"\A#EXTM3U",)),
    ("C source text", _C, (rb"^#\s*pragma",)),
    ("C source text", _C, (rb"^#\s*(?:if|ifn)def", rb"&^#\s*define")),
    ("C source text", _C, (rb"^[ \t\v\f\r]*double(?: \*|\*)[^\n]+;[ \t\v\f\r]*$",)),
    ("C source text", _C, (rb"^[ \t\v\f\r]*extern\s+",)),
    ("C source text", _C, (rb"^struct\s+",)),
    ("Java source", "text/x-java", (rb"^import[^\n]*;$",)),
    ("Lisp/Scheme program text", "text/x-lisp", (rb"\(defun ",)),
    (_PYTHON_WORDS, _PYTHON, (rb"^import [_A-Za-z]+ as [A-Za-z]\s*$",)),
)


def find_kind(text: bytes) -> tuple[str, str] | None:
    """Return (description, MIME type) of the first rule that holds, None for plain text."""
    text = text[:_SEEN]
    for words, mime, steps in _RULES:
        if not _holds(text, steps):
            continue
        if words:
            return words, mime
        count = _clauses(text)
        if count:
            return " ".join([_PYTHON_WORDS] * count), _PYTHON
    return None


def _holds(text: bytes, steps: tuple[Step, ...]) -> bool:
    """Whether every pattern is found."""
    rest = text
    for step in steps:
        relative = step[:1] == b"&"
        subject = rest if relative else text
        found = re.search(step[1:] if relative else step, subject, re.MULTILINE)
        if found is None:
            return False
        rest = subject[found.end() :]
    return True


def _clauses(text: bytes) -> int:
    """Return how many kinds of clauses follow a `try` of Python: `file` prints a line for each."""
    rest = text[text.find(b"try:") + 4 :]
    excepts = re.search(rb"^[ \t\v\f\r]*except[^\n]*:$", rest, re.MULTILINE) is not None
    return excepts + (b"finally:" in rest)
