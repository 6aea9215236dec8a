"""No text makes `execute` raise, and the sandbox is usable afterwards; what is quoted comes back as
it was.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsandbox import Limits, Sandbox
from agentsandbox.kernel.quoting import ansi_quote, backslash_quote, shell_quote_single, trace_quote
from agentsandbox.kernel.streams import decode, encode

LIMITS = Limits(timeout=1.0, output_bytes=1 << 20, value_bytes=1 << 20)
Sandbox().execute("true")  # sets the recursion limit before hypothesis takes note of it
QUICK = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

FRAGMENTS = st.sampled_from(
    r"""if then else elif fi for while until do done case in esac select function time coproc ! { }
    ( ) (( )) [[ ]] ; ;; ;& & && | ||
    |& < > << <<- <<< <& >& &>
    >| <> <( >( $( ` $(( ${ } $ " ' $' \ # * ? [ ] ~ = += a b x 1 -1 0x 08 $x ${x}
    ${x ${x:-} ${x/ ${!x} ${#x} ${x[ @ % ^ , : echo cat eval
    exec exit
    return break continue trap set shift read local declare -A -n
    unset wait kill printf %s %999d EOF <<EOF {1..9} {a,b} =~ == -eq 2>&1 {fd}>
    /dev/null /dev/fd/9""".split()
)  # fmt: skip
BLANKS = st.sampled_from([" ", " ", "\n", "", "\t", "\0", "\r\n"])
TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="(){}[]$`\"'\\;|&<>#\n a1=*?!~", max_size=60),
    st.binary(max_size=60).map(decode),
    st.lists(st.tuples(FRAGMENTS, BLANKS), max_size=25).map(
        lambda pieces: "".join(a + b for a, b in pieces)
    ),
)
WORDS = st.one_of(st.text(max_size=20), st.binary(max_size=20).map(decode)).map(
    lambda text: decode(encode(text)).replace("\0", "")
)


# TM-OUT-1
@QUICK
@given(TEXTS)
def test_no_text_makes_execute_raise(script: str) -> None:
    with Sandbox(limits=LIMITS) as sandbox:
        result = sandbox.execute(script)
        assert 0 <= result.exit_code <= 255
        assert "internal error" not in result.stderr
        after = sandbox.execute("\\builtin echo alive", state="discard")
        assert "internal error" not in after.stderr


@QUICK
@given(WORDS)
def test_quoted_text_comes_back(text: str) -> None:
    quoted = [shell_quote_single(text), ansi_quote(text), backslash_quote(text), trace_quote(text)]
    with Sandbox(limits=LIMITS) as sandbox:
        for each in quoted:
            assert sandbox.execute(f"printf %s {each}").stdout_bytes == encode(text), each


@QUICK
@given(WORDS)
def test_the_shells_own_quoting_comes_back(text: str) -> None:
    with Sandbox(limits=LIMITS) as sandbox:
        script = """
printf %s "$x" > 1
eval "y=${x@Q}"; printf %s "$y" > 2
printf -v q %q "$x"; eval "z=$q"; printf %s "$z" > 3
declare -p x > s; . ./s; printf %s "$x" > 4
"""
        result = sandbox.execute(script, env={"x": text})
        assert result.stderr == ""
        assert {sandbox.fs.read_bytes(f"/workspace/{number}") for number in "1234"} == {
            encode(text)
        }
