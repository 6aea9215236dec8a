"""`python3 -m venv DIR`: a folder with this Python and site-packages of its own."""

import os
import sys

CONFIG = """\
home = /usr/bin
include-system-site-packages = {system}
version = {version}
executable = /usr/bin/python3
command = /usr/bin/python3 -m venv {folder}
"""

ACTIVATE = """\
# This file must be used with "source bin/activate" *from bash*
deactivate () {{
    if [ -n "${{_OLD_VIRTUAL_PATH:-}}" ] ; then
        PATH="${{_OLD_VIRTUAL_PATH}}"
        export PATH
        unset _OLD_VIRTUAL_PATH
    fi
    if [ -n "${{_OLD_VIRTUAL_PS1:-}}" ] ; then
        PS1="${{_OLD_VIRTUAL_PS1}}"
        export PS1
        unset _OLD_VIRTUAL_PS1
    fi
    hash -r 2> /dev/null
    unset VIRTUAL_ENV VIRTUAL_ENV_PROMPT
    if [ ! "${{1:-}}" = "nondestructive" ] ; then
        unset -f deactivate
    fi
}}
deactivate nondestructive
VIRTUAL_ENV={folder}
export VIRTUAL_ENV
_OLD_VIRTUAL_PATH="$PATH"
PATH="$VIRTUAL_ENV/bin:$PATH"
export PATH
VIRTUAL_ENV_PROMPT={prompt}
export VIRTUAL_ENV_PROMPT
if [ -z "${{VIRTUAL_ENV_DISABLE_PROMPT:-}}" ] ; then
    _OLD_VIRTUAL_PS1="${{PS1:-}}"
    PS1="("{prompt}") ${{PS1:-}}"
    export PS1
fi
hash -r 2> /dev/null
"""

PIP = """\
#!{python}
import sys

from pip.__main__ import main

sys.exit(main())
"""


class EnvBuilder:
    """Makes virtual environments; the options have the meaning that CPython gives them."""

    def __init__(
        self, system_site_packages=False, clear=False, symlinks=False, upgrade=False,
        with_pip=False, prompt=None, upgrade_deps=False, *, scm_ignore_files=frozenset(),
    ):  # fmt: skip
        self.system_site_packages = system_site_packages
        self.clear = clear
        self.with_pip = with_pip
        self.prompt = prompt

    def create(self, env_dir):
        """Make the folder, or complete one that is there."""
        import shlex

        folder = os.path.abspath(env_dir)
        if self.clear and os.path.isdir(folder):
            import shutil

            shutil.rmtree(folder)
        short = ".".join(map(str, sys.version_info[:2]))
        for part in ("bin", "include", f"lib/python{short}/site-packages"):
            os.makedirs(f"{folder}/{part}", exist_ok=True)
        prompt = self.prompt if self.prompt not in (None, ".") else os.path.basename(folder)
        system = "true" if self.system_site_packages else "false"
        version = ".".join(map(str, sys.version_info[:3]))
        config = CONFIG.format(system=system, version=version, folder=folder)
        write(f"{folder}/pyvenv.cfg", config)
        for name in ("python", "python3", f"python{short}"):
            if not os.path.lexists(f"{folder}/bin/{name}"):
                os.symlink("/usr/bin/python3", f"{folder}/bin/{name}")
        quoted = {"folder": shlex.quote(folder), "prompt": shlex.quote(prompt)}
        write(f"{folder}/bin/activate", ACTIVATE.format(**quoted))
        if self.with_pip:
            for name in ("pip", "pip3"):
                write(f"{folder}/bin/{name}", PIP.format(python=f"{folder}/bin/python3"))
                os.chmod(f"{folder}/bin/{name}", 0o755)


def write(path, text):
    """Write a text file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def create(env_dir, system_site_packages=False, clear=False, symlinks=False, with_pip=False,
           prompt=None, upgrade_deps=False, *, scm_ignore_files=frozenset()):  # fmt: skip
    """Make a virtual environment in a folder."""
    EnvBuilder(system_site_packages, clear, symlinks, False, with_pip, prompt).create(env_dir)


def main(args=None):
    """Read the command line of `python3 -m venv`."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="venv", description="Creates virtual Python environments in one or more folders."
    )
    parser.add_argument("dirs", metavar="ENV_DIR", nargs="+", help="folder of the environment")
    parser.add_argument("--system-site-packages", action="store_true", help="note it in pyvenv.cfg")
    parser.add_argument("--clear", action="store_true", help="empty the folder first")
    parser.add_argument("--without-pip", action="store_true", help="leave out bin/pip")
    parser.add_argument("--prompt", help="text for the prompt while the environment is active")
    parser.add_argument("--symlinks", action="store_true", help="always so here")
    given = parser.parse_args(args)
    for folder in given.dirs:
        EnvBuilder(
            given.system_site_packages, given.clear, True, False, not given.without_pip,
            given.prompt,
        ).create(folder)  # fmt: skip
