"""`locale` with the locales that the sandbox has: C, POSIX and C.UTF-8.

musl takes every name and formats as in C; a script that asks for German shall learn that it has
none.
"""

KNOWN = frozenset(("C", "POSIX", "C.UTF-8", "C.utf8"))


def apply(module):
    """Refuse other locales, and name the encoding as on Linux."""
    import os

    original = module.setlocale

    def setlocale(category, locale=None):
        """Set or return the locale of a category."""
        if locale and not isinstance(locale, str):
            locale = module.normalize(module._build_localename(locale))
        if locale == "":
            names = ("LC_ALL", "LC_CTYPE", "LANG")
            locale = next(filter(None, map(os.environ.get, names)), "C")
        if locale is not None and any(
            part.partition("=")[2] not in KNOWN if "=" in part else part not in KNOWN
            for part in locale.split(";")
        ):
            raise module.Error("unsupported locale setting")
        return original(category, locale)

    module.setlocale = setlocale
    module.getencoding = lambda: "UTF-8"
    module.getpreferredencoding = lambda do_setlocale=True: "UTF-8"
