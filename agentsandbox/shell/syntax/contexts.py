"""The contexts of a text, which decide where it ends and what its quotes mean.

WORD        a command's word: ends at a metacharacter
QUOTED      inside "…"
BRACE       the operand of ${…}: ends at its closing character, quotes as in a word, blanks are text
BRACE_Q     the same inside "…": single quotes are text, though what they enclose ends nothing; "…"
            inside is removed
BRACE_H     the same in the body of a here-document: no $'…'
HERE        the body of a here-document: like QUOTED, but " is text
SUBSCRIPT   inside [ ]: like BRACE, brackets nest
ARITHMETIC  inside $(( )): like QUOTED, double quotes are dropped
INNER       inside "…" within the operand of a "${…}": like QUOTED, but a backslash quotes whatever
            follows
"""

from __future__ import annotations

WORD, QUOTED, BRACE, BRACE_Q, HERE, SUBSCRIPT, ARITHMETIC, INNER, BRACE_H = range(9)

ESCAPABLE = {
    QUOTED: '$`"\\',
    BRACE_Q: '$`"\\}',
    BRACE_H: '$`"\\}',
    HERE: "$`\\",
    ARITHMETIC: '$`"\\',
    INNER: "",
}
"""What a backslash quotes, in the contexts where it quotes little."""
