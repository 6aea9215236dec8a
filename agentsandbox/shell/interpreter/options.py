"""The options of a shell: those of `set -o`, those of `shopt`, and what follows from them.

`Options` is a value. `set` and `shopt` put another value in its place, so a subshell, a fork and a
saved state share theirs with the shell they came from, at the cost of one reference.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS: dict[str, tuple[str, str]] = {
    "allexport": ("a", "allexport"),
    "braceexpand": ("B", "braceexpand"),
    "emacs": ("", "emacs"),
    "errexit": ("e", "errexit"),
    "errtrace": ("E", "errtrace"),
    "functrace": ("T", "functrace"),
    "hashall": ("h", "hashall"),
    "histexpand": ("H", "histexpand"),
    "history": ("", "history"),
    "ignoreeof": ("", "ignoreeof"),
    "interactive-comments": ("", "interactive_comments"),
    "keyword": ("k", "keyword"),
    "monitor": ("m", "monitor"),
    "noclobber": ("C", "noclobber"),
    "noexec": ("n", "noexec"),
    "noglob": ("f", "noglob"),
    "nolog": ("", "nolog"),
    "notify": ("b", "notify"),
    "nounset": ("u", "nounset"),
    "onecmd": ("t", "onecmd"),
    "physical": ("P", "physical"),
    "pipefail": ("", "pipefail"),
    "posix": ("", "posix"),
    "privileged": ("p", "privileged"),
    "verbose": ("v", "verbose"),
    "vi": ("", "vi"),
    "xtrace": ("x", "xtrace"),
}
"""Options of `set -o`: (letter, attribute of `Options`)."""

_FLAGS = tuple(attribute for _, attribute in OPTIONS.values())
_ON = ("braceexpand", "hashall", "interactive_comments")
"""The options of `set -o` that are on in a shell that runs a script."""

_SHOPT_ON = """
checkwinsize cmdhist complete_fullquote extquote force_fignore globasciiranges globskipdots
hostcomplete interactive_comments patsub_replacement progcomp promptvars sourcepath
""".split()
_SHOPT_OFF = """
autocd assoc_expand_once cdable_vars cdspell checkhash checkjobs compat31 compat32 compat40
compat41 compat42 compat43 compat44 direxpand dirspell dotglob execfail expand_aliases extdebug
extglob failglob globstar gnu_errfmt histappend histreedit histverify huponexit inherit_errexit
lastpipe lithist localvar_inherit localvar_unset login_shell mailwarn no_empty_cmd_completion
nocaseglob nocasematch noexpand_translation nullglob progcomp_alias restricted_shell shift_verbose
varredir_close xpg_echo
""".split()
SHOPT_DEFAULTS: Mapping[str, bool] = {
    **dict.fromkeys(_SHOPT_ON, True),
    **dict.fromkeys(_SHOPT_OFF, False),
}
"""Options of `shopt` in a shell that runs a script."""


class Options:
    """All options of a shell; immutable.

    shopt                the options of `shopt`, by name
    extglob              `shopt["extglob"]`, which the parser asks for often
    reading              `extglob`, and whether single quotes in "${x-it's}" must be closed: not in
                         POSIX mode, nor in `sh`
    errexit_is_default   whether errexit is on only because the sandbox sets it for script files
    """

    __slots__ = ("_without", "errexit_is_default", "extglob", "reading", "shopt", *_FLAGS)

    def __init__(
        self,
        flags: Mapping[str, bool],
        shopt: Mapping[str, bool],
        *,
        errexit_is_default: bool = False,
    ) -> None:
        put = object.__setattr__
        for name in _FLAGS:
            put(self, name, flags[name])
        put(self, "shopt", shopt)
        put(self, "extglob", shopt["extglob"])
        put(self, "reading", (shopt["extglob"], not (flags["posix"] or shopt["xpg_echo"])))
        put(self, "errexit_is_default", errexit_is_default)
        put(self, "_without", {})

    if TYPE_CHECKING:
        allexport: bool
        braceexpand: bool
        emacs: bool
        errexit: bool
        errexit_is_default: bool
        errtrace: bool
        extglob: bool
        reading: tuple[bool, bool]
        functrace: bool
        hashall: bool
        histexpand: bool
        history: bool
        ignoreeof: bool
        interactive_comments: bool
        keyword: bool
        monitor: bool
        noclobber: bool
        noexec: bool
        noglob: bool
        nolog: bool
        notify: bool
        nounset: bool
        onecmd: bool
        physical: bool
        pipefail: bool
        posix: bool
        privileged: bool
        shopt: Mapping[str, bool]
        verbose: bool
        vi: bool
        xtrace: bool
        _without: dict[str, Options]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Options are immutable: use options.replace({name}=…)")

    def flags(self) -> dict[str, bool]:
        """The options of `set -o`, by attribute."""
        return {name: getattr(self, name) for name in _FLAGS}

    def replace(self, *, errexit_is_default: bool | None = None, **flags: bool) -> Options:
        """Return the options with some of `set -o` replaced, by attribute."""
        default = self.errexit_is_default if errexit_is_default is None else errexit_is_default
        return Options({**self.flags(), **flags}, self.shopt, errexit_is_default=default)

    def with_shopt(self, name: str, on: bool) -> Options:
        """Return the options with one of `shopt` replaced."""
        return Options(
            self.flags(), {**self.shopt, name: on}, errexit_is_default=self.errexit_is_default
        )

    def without(self, flag: str) -> Options:
        """Return the options with one of `set -o` off, by attribute. Results are cached."""
        if not getattr(self, flag):
            return self
        other = self._without.get(flag)
        if other is None:
            other = self._without[flag] = self.replace(**{flag: False})
        return other

    def is_on(self, name: str) -> bool:
        """Whether an option of `set -o` is on, by its name."""
        return bool(getattr(self, OPTIONS[name][1]))

    def letters(self) -> str:
        """Return the letters of the options that are on, as `$-` begins."""
        on = [
            letter for letter, attribute in OPTIONS.values() if letter and getattr(self, attribute)
        ]
        return "".join(sorted(on, key=lambda letter: (letter.isupper(), letter)))


DEFAULT_OPTIONS = Options(dict.fromkeys(_FLAGS, False) | dict.fromkeys(_ON, True), SHOPT_DEFAULTS)
"""The options of a shell that runs a script."""
