"""Submodules of a hostile history: names, paths, addresses and links that lead elsewhere."""

from __future__ import annotations

import pytest

from agentsandbox import Sandbox

ENV = {
    "GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "c@example.com",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow",
    "GIT_CONFIG_VALUE_0": "always",
}  # fmt: skip
SETUP = """(
git init -q sub && echo payload > sub/payload && mkdir sub/x && echo hook > sub/x/post-checkout
chmod +x sub/x/post-checkout && git -C sub add . && git -C sub commit -qm sub
git init -q evil && cd evil && git submodule -q add ../sub good && git commit -qm good
mkdir -p ../home
)
"""
NAMES = {
    "dots": "../../home/x",
    "dots within": "a/../../../home/x",
    "dots at the end": "a/..",
    "dots and a backslash": "..\\\\\\\\home",
    "an absolute path": "/work/home/x",
    "the hooks of another": "good/hooks",
    "the folder itself": "../config",
    "empty": "",
}
SECTION = '[submodule "%s"]\n\tpath = %s\n\turl = %s\n'


def outside(sandbox: Sandbox) -> dict[str, bytes]:
    """Return all files of the working directory that are not in the clone."""
    return {
        path: sandbox.fs.read_bytes(path)
        for folder, _, names in sandbox.fs.walk("/work")
        for name in names
        if not (path := f"{folder}/{name}").startswith("/work/clone/")
        and sandbox.fs.stat(path, follow=False).is_file
    }


def attack(sandbox: Sandbox, section: str, path: str) -> None:
    """Clone a repository whose `.gitmodules` has a section, and do what an agent would do."""
    sandbox.execute(SETUP)
    sandbox.files.write("/work/evil/.gitmodules", section)
    head = sandbox.execute("git -C sub rev-parse HEAD").stdout.strip()
    made = sandbox.execute(
        "cd evil && git add .gitmodules && "
        f"git update-index --add --cacheinfo 160000,{head},'{path}' && git commit -qm evil",
        state="discard",
    )
    assert made.exit_code == 0, made.stderr
    before = outside(sandbox)
    for command in (
        "git clone -q --recurse-submodules evil clone", "cd clone; git submodule init",
        "cd clone; git submodule update --init --recursive --force",
        "cd clone; git submodule sync; git submodule status; git status; git diff HEAD~1",
        "cd clone; git submodule foreach pwd; git submodule deinit -f --all; git fetch",
        "cd clone; git submodule absorbgitdirs; git mv -k good moved; git rm -qf .",
    ):  # fmt: skip
        result = sandbox.execute(command, state="discard")
        assert "Traceback" not in result.stderr
    assert outside(sandbox) == before


# TM-GIT-10
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_of_submodules_are_no_paths(name: str) -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        attack(sandbox, SECTION % ("good", "good", "../sub") + SECTION % (name, "s", "../sub"), "s")
        folder = "/work/clone/.git/modules"
        assert sandbox.files.exists(f"{folder}/good/HEAD")
        assert "HEAD" not in sandbox.execute(f"ls {folder}/good/hooks").stdout


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_of_the_command_line_are_no_paths(name: str) -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        sandbox.execute(SETUP + "mv evil clone")
        before = outside(sandbox)
        result = sandbox.execute("cd clone; git submodule add --name \"$1\" ../sub s", args=[name], state="discard")
        if name != "/work/home/x":
            assert result.exit_code, result.stderr
        assert outside(sandbox) == before


@pytest.mark.parametrize("link", [".git", "../home", "good", "."])
@pytest.mark.parametrize("case", ["a", "A"])
def test_paths_of_submodules_lead_over_no_link(link: str, case: str) -> None:
    """CVE-2024-32002: `a` is a link to `.git`, the submodule is at `A/x`."""
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        sandbox.execute(SETUP)
        sandbox.fs.symlink(link, "/work/evil/a")
        section = SECTION % ("x", f"{case}/hooks", "../sub")
        made = sandbox.execute("cd evil && git add a && git commit -qm link", state="discard")
        assert made.exit_code == 0, made.stderr
        sandbox.files.write("/work/evil/.gitmodules", section)
        head = sandbox.execute("git -C sub rev-parse HEAD").stdout.strip()
        # the index cannot have both "a" and "a/hooks": the tree is written by hand
        inner = f"160000 commit {head}\thooks\n"
        sandbox.files.write("/work/inner", inner)
        sandbox.execute(
            "cd evil && git rm -q --cached good && git add .gitmodules && git ls-tree "
            "$(git write-tree) > ../tree && printf '040000 tree %s\\t%s\\n' "
            f"$(git mktree --missing < ../inner) {case} >> ../tree && git update-ref "
            "refs/heads/master $(git commit-tree -m evil $(git mktree --missing < ../tree))",
            state="discard",
        )
        before = outside(sandbox)
        for command in (
            "git clone -q --recurse-submodules evil clone",
            "cd clone; rm -rf a A; ln -s $1 a; ln -s $1 A",
            "cd clone; git submodule update --init --force; git submodule update --init",
            "cd clone; git submodule foreach pwd; git submodule deinit --all -f; git status",
            "cd clone; git submodule absorbgitdirs; git add .; git rm -rqf . ; git stash",
        ):
            sandbox.execute(command, args=[link], state="discard")
        assert outside(sandbox) == before
        hooks = sandbox.execute("ls -R clone/.git/hooks").stdout
        assert "post-checkout" not in hooks


@pytest.mark.parametrize("url", ["-u./payload", "--upload-pack=touch hacked", "ext::sh -c touch",
                                 "../sub\\nx", "ssh://-oProxyCommand=x/y"])  # fmt: skip
def test_addresses_of_submodules_are_no_options(url: str) -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        attack(sandbox, SECTION % ("good", "good", f'"{url}"'), "good")
        assert not sandbox.execute("find / -name hacked").stdout


@pytest.mark.parametrize("path", ["-u./payload", ".git/x", "../home/x", "/work/home/x", ".git",
                                  "a/../../home", "good/.GIT/x"])  # fmt: skip
def test_paths_of_submodules_stay_in_the_worktree(path: str) -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        attack(sandbox, SECTION % ("x", path, "../sub"), "good")
        sandbox.execute("mkdir -p clone; cd clone; git init -q", state="discard")
        before = outside(sandbox)
        sandbox.execute("cd clone; git submodule add ../sub \"$1\"", args=[path], state="discard")
        assert outside(sandbox) == before


@pytest.mark.parametrize("value", ["!touch /work/hacked", "!", "bogus"])
def test_a_history_names_no_command_for_updates(value: str) -> None:
    """CVE-2019-19604."""
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        section = SECTION % ("good", "good", "../sub") + f'\tupdate = "{value}"\n'
        attack(sandbox, section, "good")
        result = sandbox.execute("cd clone; git submodule update --init")
        assert "fatal: invalid value for 'submodule.good.update'" in result.stderr
        assert result.exit_code == 128
        assert not sandbox.execute("find / -name hacked").stdout


def test_modules_file_that_is_a_link() -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        sandbox.execute(SETUP + "mv evil clone; ln -sf ../home/g clone/.gitmodules")
        before = outside(sandbox)
        for command in (
            "git submodule add ../sub two", "git submodule set-url good ../x", "git mv good m",
            "git submodule set-branch -b x good", "git rm -qf good", "git submodule init",
        ):  # fmt: skip
            result = sandbox.execute(f"cd clone; {command}", state="discard")
            refused = (".gitmodules is a symbolic link", "stage your changes to .gitmodules")
            assert any(each in result.stderr for each in refused), command
        assert outside(sandbox) == before


@pytest.mark.parametrize("end", ["\r", "\\n", " ", "\t"])
def test_white_space_at_the_end_of_a_path(end: str) -> None:
    """CVE-2025-48384: a path and the configuration of it must not name two places."""
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        attack(sandbox, SECTION % ("good", f'"good{end}"', "../sub"), "good")


def test_endless_nesting_ends_at_a_limit() -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        made = sandbox.execute(
            "git init -q r; cd r; git commit -q --allow-empty -m x; git submodule -q add ./. s; "
            "git commit -qm self; cd ..; git clone -q r c; cd c; git config --global "
            "protocol.file.allow always; for i in $(seq 40); do git submodule update --init -q "
            "2> /dev/null || break; cd s || break; done; cd /work/c; git status; "
            "git submodule status --recursive | wc -l",
            timeout=60,
        )
        assert "Traceback" not in made.stderr


def test_the_file_protocol_is_for_the_user() -> None:
    """A history must not choose a folder of the sandbox to read."""
    env = {name: value for name, value in ENV.items() if not name.startswith("GIT_CONFIG")}
    with Sandbox(cwd="/work", env=env) as sandbox:
        result = sandbox.execute(
            "git init -q sub; git -C sub commit -q --allow-empty -m x; git init -q r; cd r; "
            "git submodule add ../sub; git submodule add \"file://$PWD/../sub\" two; ls -A"
        )
        assert result.stdout == ".git\n"
        assert result.stderr.count("fatal: transport 'file' not allowed") == 2
