"""Commands that agents call and a sandbox cannot give, and what to do instead."""

from __future__ import annotations

_LANGUAGE = "do not run in this sandbox; use the shell, awk, jq, sed or bc"

GROUPS = {
    "nothing can be installed in this sandbox; use the commands that are there (compgen -c lists "
    "them)": "apk apt apt-cache apt-get aptitude brew bundle cargo-install composer conda dnf dpkg "
    "gem mamba npm npx pacman pnpm rpm snap yarn yum zypper",
    "Python packages cannot be installed in this sandbox; use the commands that are there": (
        "easy_install pip pip3 pipenv pipx poetry uv"
    ),
    f"Python programs {_LANGUAGE}": "ipython jupyter pypy3 pytest python python2 python3 "
    "virtualenv",
    f"programs in other languages {_LANGUAGE}": "bun deno java julia kotlin lua luajit node nodejs "
    "perl php Rscript ruby scala swift tclsh",
    "nothing can be compiled in this sandbox; write a shell or awk script": "as c++ cargo cc clang "
    "cmake g++ gcc go javac ld ninja rustc tsc",
    "only HTTP can leave this sandbox, with curl and if it is allowed": "aws az dig ftp gcloud "
    "host http ifconfig ip kubectl lynx ncat netcat netstat nmap nslookup ping psql redis-cli "
    "rsync rclone s3cmd scp sftp socat ss ssh ssh-keygen telnet traceroute whois",
    "git push brings work to a remote that the host offers or allows, which reviews it there; "
    "the API of a forge is reached with curl, if it is allowed": "gh",
    "a sandbox has no services; start a background job with '&'": "at atd cron crontab init "
    "initctl journalctl launchctl nginx service systemctl",
    "there is one user, who owns every file it makes; run the command as that user": "adduser "
    "chpasswd deluser doas gpasswd groupadd passwd runuser su sudo useradd userdel usermod visudo",
    "a sandbox has no devices or mounts to change; its filesystem is in memory": "blkid chroot "
    "dmesg fdisk fsck insmod losetup lsblk lsmod mkfs mknod modprobe mount mountpoint mkswap "
    "parted swapoff swapon sysctl umount unshare lspci lsusb hdparm ethtool",
    "a sandbox runs no containers; run the commands here directly": "buildah docker "
    "docker-compose helm minikube podman",
    "there is no terminal for an editor; write files with 'cat > FILE <<EOF', sed -i or patch": (
        "code ed emacs ex joe micro nano pico vi view vim"
    ),
    "version control is not available in this sandbox; diff, patch and cp keep and compare "
    "versions": "cvs hg svn",
    "open files are not listed in this sandbox; ps shows what runs": "fuser lsof strace ltrace gdb",
    "files are not merged here; diff -y shows two side by side, diff and patch carry changes "
    "over": "diff3 sdiff",
    "there are no terminals to divide; start a background job with '&'": (
        "screen tmux expect"
    ),
    "this format is not available in this sandbox; use tar or zip": "7z 7za rar unrar cpio ar lz4 "
    "lzop compress",
    "ps shows the processes": "top htop pstree atop iotop pidof vmstat",
    "nothing tells of changes here; look for them with 'watch -g COMMAND' under timeout": (
        "inotifywait entr"
    ),
    "there is no index of files; use find": "locate mlocate plocate updatedb",

    "data of compress (.Z) is not read here; gzip makes .gz files": "znew",
    "which, type -a and find tell where a command or a file is": "whereis",
    "grep '^TEXT' FILE finds the lines that begin with a text": "look",
    "ls -C and ls -l do the same": "dir vdir",
    "hexdump -C does the same": "hd",
    "uname -m does the same": "arch",
    "who does the same": "users",
    "base64 and base32 are there; xxd -p writes hexadecimal digits": "basenc",
    "there is no terminal to reset": "reset",
    "there is no mail, clipboard, browser or printer here; write a file": "mail mailx sendmail "
    "pbcopy pbpaste xclip xsel xdg-open lp lpr open",
    "documents and images are not converted here; write text or Markdown": "pandoc convert ffmpeg "
    "ffprobe identify magick latex pdflatex pdftotext soffice wkhtmltopdf",
    "keys and secrets are not kept here; openssl dgst and sha256sum make digests": (
        "gpg gpg2 pass vault"
    ),
    "linters and formatters do not run in this sandbox; bash -n checks a script's syntax": (
        "shellcheck shfmt eslint prettier black ruff mypy flake8 pylint"
    ),
}
_HINTS = {name: sentence for sentence, names in GROUPS.items() for name in names.split()}


def unavailable_hint(name: str) -> str | None:
    """Return what to do instead of calling `name`; None for an unknown name."""
    return _HINTS.get(name.rpartition("/")[2])
