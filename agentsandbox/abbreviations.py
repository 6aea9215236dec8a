"""How tools list the long options that an abbreviation may mean: in the order of their own tables, not of their help."""

from __future__ import annotations

__all__ = ["order_of"]

_ORDERS = {
    "arch/dd/groups/link/logname/nohup/sleep/tsort/unlink/users/whoami": "help version",
    "b2sum": "length check ignore-missing quiet status warn strict tag zero binary text help version",
    "base32/base64": "decode wrap ignore-garbage help version",
    "basename": "multiple suffix zero help version",
    "basenc": "decode wrap ignore-garbage base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 help version",
    "bc": "compile help interactive mathlib quiet standard version warn",
    "cat": "number-nonblank number squeeze-blank show-nonprinting show-ends show-tabs show-all help version",
    "chgrp": "recursive changes dereference no-dereference no-preserve-root preserve-root quiet silent reference verbose help version",
    "chmod": "changes recursive no-preserve-root preserve-root quiet reference silent verbose help version",
    "chown": "recursive changes dereference from no-dereference no-preserve-root preserve-root quiet silent reference verbose help version",
    "cksum": "length check ignore-missing quiet status warn strict tag zero algorithm debug untagged help version",
    "cmp": "print-bytes print-chars ignore-initial verbose bytes silent quiet version help",
    "colrm/rev": "version help",
    "column": (
        "columns fillrows help json keep-empty-lines output-separator separator table table-columns table-columns-limit table-hide "
        "table-name table-noextreme table-noheadings table-order table-right table-truncate table-wrap table-empty-lines "
        "table-header-repeat tree tree-id tree-parent version"
    ),
    "comm": "check-order nocheck-order output-delimiter total zero-terminated help version",
    "cp": (
        "archive attributes-only backup copy-contents dereference force interactive link no-clobber no-dereference no-preserve "
        "no-target-directory one-file-system parents path preserve recursive remove-destination sparse reflink strip-trailing-slashes "
        "suffix symbolic-link target-directory update verbose context help version"
    ),
    "csplit": "digits quiet silent keep-files elide-empty-files prefix suffix-format suppress-matched help version",
    "cut": "bytes characters fields delimiter only-delimited output-delimiter complement zero-terminated help version",
    "date": "date debug file iso-8601 reference resolution rfc-email rfc-822 rfc-2822 rfc-3339 set uct utc universal help version",
    "dc": "expression file help version",
    "df": "all block-size inodes human-readable si local output portability print-type sync no-sync total type exclude-type help version",
    "diff": (
        "binary brief changed-group-format color context ed exclude exclude-from expand-tabs forward-ed from-file help horizon-lines "
        "ifdef ignore-all-space ignore-blank-lines ignore-case ignore-file-name-case ignore-matching-lines ignore-space-change "
        "ignore-tab-expansion ignore-trailing-space inhibit-hunk-merge initial-tab label left-column line-format minimal new-file "
        "new-group-format new-line-format no-dereference no-ignore-file-name-case normal old-group-format old-line-format paginate "
        "palette rcs recursive report-identical-files sdiff-merge-assist show-c-function show-function-line side-by-side "
        "speed-large-files starting-file strip-trailing-cr suppress-blank-empty suppress-common-lines tabsize text to-file "
        "unchanged-group-format unchanged-line-format unidirectional-new-file unified version width -presume-output-tty"
    ),
    "diff3": "diff-program easy-only ed help initial-tab label merge overlap-only show-all show-overlap strip-trailing-cr text version",
    "dir/ls/vdir": (
        "all escape directory dired full-time group-directories-first human-readable inode kibibytes numeric-uid-gid no-group "
        "hide-control-chars reverse size width almost-all ignore-backups classify file-type si dereference-command-line "
        "dereference-command-line-symlink-to-dir hide ignore indicator-style dereference literal quote-name quoting-style recursive "
        "format show-control-chars sort tabsize time time-style zero color hyperlink block-size context author help version"
    ),
    "dirname": "zero help version",
    "du": (
        "all apparent-size block-size bytes count-links dereference dereference-args exclude exclude-from files0-from human-readable "
        "inodes si max-depth null no-dereference one-file-system separate-dirs summarize total threshold time time-style help version"
    ),
    "egrep/fgrep/grep": (
        "basic-regexp extended-regexp fixed-regexp fixed-strings perl-regexp after-context before-context binary-files byte-offset "
        "context color colour count devices directories exclude exclude-from exclude-dir file files-with-matches files-without-match "
        "group-separator help include ignore-case no-ignore-case initial-tab label line-buffered line-number line-regexp max-count "
        "no-filename no-group-separator no-messages null null-data only-matching quiet recursive dereference-recursive regexp "
        "invert-match silent text binary unix-byte-offsets version with-filename word-regexp"
    ),
    "env": (
        "ignore-environment null unset chdir default-signal ignore-signal block-signal list-signal-handling debug split-string help version"
    ),
    "envsubst": "help variables version",
    "expand": "tabs initial help version",
    "factor": "-debug help version",
    "file": (
        "help version magic-file uncompress uncompress-noreport brief checking-printout exclude exclude-quiet files-from separator mime "
        "apple extension mime-type mime-encoding keep-going list dereference no-dereference no-buffer no-pad print0 preserve-date "
        "parameter raw special-files no-sandbox compile debug"
    ),
    "flock": "shared exclusive unlock nonblocking nb timeout wait conflict-exit-code close no-fork verbose help version",
    "fmt": "crown-margin prefix split-only tagged-paragraph uniform-spacing width goal help version",
    "fold": "bytes spaces width help version",
    "free": "bytes kilo mega giga tera peta kibi mebi gibi tebi pebi human si lohi total committed seconds count wide help version",
    "getopt": "options longoptions quiet quiet-output shell test unquoted help alternative name version",
    "gunzip/gzip/zcat": (
        "ascii to-stdout stdout decompress uncompress force help keep list license no-name name -presume-input-tty quiet silent "
        "synchronous recursive suffix test verbose version fast best lzw bits rsyncable"
    ),
    "hd/hexdump": (
        "one-byte-octal one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex format format-file color length skip "
        "no-squeezing help version"
    ),
    "head": "bytes lines -presume-input-pipe quiet silent verbose zero-terminated help version",
    "iconv": "from-code to-code list output silent verbose help usage program-name HANG version",
    "id": "context group groups name real user zero help version",
    "install": (
        "backup compare context directory group mode no-target-directory owner preserve-timestamps preserve-context strip strip-program "
        "suffix target-directory verbose help version"
    ),
    "ionice": "classdata class help ignore pid pgid uid version",
    "join": "ignore-case check-order nocheck-order zero-terminated header help version",
    "ln": (
        "backup directory no-dereference no-target-directory force interactive suffix target-directory logical physical relative symbolic "
        "verbose help version"
    ),
    "locale": "all-locales charmaps category-name keyword-name verbose help usage program-name HANG version",
    "look": "alternative alphanum ignore-case terminate version help",
    "lzcat/lzma/unlzma": "stdout decompress compress keep force test suffix quiet verbose help license version fast best",
    "man": (
        "config-file debug default warnings whatis apropos global-apropos where path location where-cat location-cat local-file catman "
        "recode locale systems manpath sections extension ignore-case match-case regex wildcard names-only all update no-subpages pager "
        "prompt ascii encoding no-hyphenation nh no-justification nj preprocessor troff troff-device html gxditview ditroff help usage "
        "program-name HANG version"
    ),
    "md5sum/sha1sum/sha224sum/sha256sum/sha384sum/sha512sum": (
        "check ignore-missing quiet status warn strict tag zero binary text help version"
    ),
    "mkdir": "context mode parents verbose help version",
    "mkfifo/mknod": "context mode help version",
    "mktemp": "directory quiet dry-run suffix tmpdir help version",
    "more": "silent logical no-pause print-over clean-print exit-on-eof squeeze plain lines version help",
    "mv": (
        "backup context force interactive no-clobber no-target-directory strip-trailing-slashes suffix target-directory update verbose "
        "help version"
    ),
    "nice": "adjustment help version",
    "nl": (
        "header-numbering body-numbering footer-numbering starting-line-number line-increment no-renumber join-blank-lines "
        "number-separator number-width number-format section-delimiter help version"
    ),
    "nproc": "all ignore help version",
    "numfmt": (
        "from from-unit to to-unit round padding suffix grouping delimiter field debug -debug header format invalid zero-terminated help "
        "version"
    ),
    "od": "skip-bytes address-radix read-bytes format output-duplicates strings traditional width endian help version",
    "paste": "serial delimiters zero-terminated help version",
    "patch": (
        "backup prefix context directory ifdef ed remove-empty-files force fuzz get input ignore-whitespace merge normal forward output "
        "strip reject-file reverse quiet silent batch set-time unified version version-control debug basename-prefix suffix set-utc "
        "dry-run verbose binary help backup-if-mismatch no-backup-if-mismatch posix quoting-style reject-format read-only follow-symlinks"
    ),
    "pathchk": "portability help version",
    "pgrep/pkill": (
        "signal ignore-ancestors count cgroup delimiter list-name list-full full pgroup group ignore-case newest oldest older parent "
        "session terminal euid uid inverse lightweight exact pidfile logpidfile echo ns nslist queue runstates help version"
    ),
    "pr": (
        "pages columns across show-control-chars double-space date-format expand-tabs form-feed header output-tabs join-lines length "
        "merge number-lines first-line-number indent no-file-warnings separator sep-string omit-header omit-pagination show-nonprinting "
        "width page-width help version"
    ),
    "printenv": "null help version",
    "ptx": (
        "auto-reference break-file flag-truncation ignore-case gap-size ignore-file macro-name only-file references right-side-refs "
        "format sentence-regexp traditional typeset-mode width word-regexp help version"
    ),
    "pwd": "logical physical help version",
    "readlink": "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero help version",
    "realpath": (
        "canonicalize-existing canonicalize-missing relative-to relative-base quiet strip no-symlinks zero logical physical help version"
    ),
    "rm": "force interactive one-file-system no-preserve-root preserve-root -presume-input-tty recursive dir verbose help version",
    "rmdir": "ignore-fail-on-non-empty path parents verbose help version",
    "sdiff": (
        "diff-program expand-tabs help ignore-all-space ignore-blank-lines ignore-case ignore-matching-lines ignore-space-change "
        "ignore-tab-expansion ignore-trailing-space left-column minimal output speed-large-files strip-trailing-cr suppress-common-lines "
        "tabsize text version width"
    ),
    "sed": (
        "binary regexp-extended debug expression file in-place line-length null-data zero-terminated quiet posix silent sandbox separate "
        "unbuffered version help follow-symlinks"
    ),
    "seq": "equal-width format separator help version",
    "setsid": "ctty fork wait version help",
    "shred": "exact force iterations size random-source remove verbose zero help version",
    "shuf": "echo input-range head-count output random-source repeat zero-terminated help version",
    "sort": (
        "ignore-leading-blanks check compress-program debug dictionary-order ignore-case files0-from general-numeric-sort "
        "ignore-nonprinting key merge month-sort numeric-sort human-numeric-sort version-sort random-sort random-source sort output "
        "reverse stable batch-size buffer-size field-separator temporary-directory unique zero-terminated parallel help version"
    ),
    "split": (
        "bytes lines line-bytes number elide-empty-files unbuffered suffix-length additional-suffix numeric-suffixes hex-suffixes filter "
        "verbose separator -io-blksize help version"
    ),
    "stat": "dereference file-system format printf terse cached help version",
    "stdbuf": "input output error help version",
    "strings": "all bytes data encoding help include-all-whitespace output-separator print-file-name radix target unicode version",
    "sum": "sysv help version",
    "sync": "data file-system help version",
    "tac": "before regex separator help version",
    "tail": (
        "bytes follow lines max-unchanged-stats -disable-inotify pid -presume-input-pipe quiet retry silent sleep-interval verbose "
        "zero-terminated help version"
    ),
    "tar": (
        "list extract get create diff compare append update catenate concatenate delete test-label sparse hole-detection sparse-version "
        "incremental listed-incremental level ignore-failed-read occurrence seek no-seek no-check-device check-device verify remove-files "
        "keep-old-files skip-old-files keep-newer-files overwrite unlink-first recursive-unlink no-overwrite-dir overwrite-dir "
        "keep-directory-symlink one-top-level to-stdout to-command ignore-command-error no-ignore-command-error owner group owner-map "
        "group-map mtime clamp-mtime mode atime-preserve touch same-owner no-same-owner numeric-owner preserve-permissions "
        "same-permissions no-same-permissions preserve-order same-order delay-directory-restore no-delay-directory-restore sort xattrs "
        "no-xattrs xattrs-include xattrs-exclude selinux no-selinux acls no-acls file force-local rmt-command rsh-command multi-volume "
        "tape-length info-script new-volume-script volno-file blocking-factor record-size ignore-zeros read-full-records format "
        "old-archive portability posix pax-option label auto-compress no-auto-compress use-compress-program bzip2 gzip gunzip ungzip "
        "compress uncompress lzip lzma lzop xz zstd one-file-system absolute-names dereference hard-dereference starting-file newer "
        "after-date newer-mtime backup suffix strip-components transform xform checkpoint checkpoint-action check-links totals utc "
        "full-time index-file block-number show-defaults show-snapshot-field-ranges show-omitted-dirs show-transformed-names "
        "show-stored-names quoting-style quote-chars no-quote-chars interactive confirmation verbose warning restrict add-file directory "
        "files-from null no-null unquote no-unquote verbatim-files-from no-verbatim-files-from exclude exclude-from exclude-caches "
        "exclude-caches-under exclude-caches-all exclude-tag exclude-ignore exclude-ignore-recursive exclude-tag-under exclude-tag-all "
        "exclude-vcs exclude-vcs-ignores exclude-backups recursion no-recursion anchored no-anchored ignore-case no-ignore-case wildcards "
        "no-wildcards wildcards-match-slash no-wildcards-match-slash help usage program-name HANG version"
    ),
    "tee": "append ignore-interrupts output-error help version",
    "timeout": "kill-after signal verbose foreground preserve-status help version",
    "touch": "time no-create date reference no-dereference help version",
    "tr": "complement delete squeeze-repeats truncate-set1 help version",
    "truncate": "no-create io-blocks reference size help version",
    "tty": "silent help version",
    "uname": (
        "all kernel-name sysname nodename kernel-release release kernel-version machine processor hardware-platform operating-system help "
        "version"
    ),
    "unexpand": "tabs all first-only help version",
    "uniq": "count repeated all-repeated group ignore-case unique skip-fields skip-chars check-chars zero-terminated help version",
    "unxz/xz/xzcat": (
        "compress decompress uncompress test list keep force stdout to-stdout single-stream no-sparse suffix files files0 format check "
        "ignore-check block-size block-list memlimit-compress memlimit-decompress memlimit-mt-decompress memlimit memory no-adjust "
        "threads flush-timeout extreme fast best lzma1 lzma2 x86 powerpc ia64 arm armthumb arm64 sparc delta quiet verbose no-warn robot "
        "info-memory help long-help version"
    ),
    "uptime": "pretty help since version",
    "uuidgen": "random time version help namespace name md5 sha1 hex",
    "watch": "color differences help interval beep errexit chgexit equexit exec precise no-title no-wrap version",
    "wc": "bytes chars lines words debug files0-from max-line-length help version",
    "who": "all boot count dead heading ips login lookup message mesg process runlevel short time users writable help version",
    "xargs": (
        "null arg-file delimiter eof replace max-lines max-args open-tty interactive no-run-if-empty max-chars verbose show-limits exit "
        "max-procs process-slot-var version help"
    ),
}
"""The names of tools that share a list, and the list: one more spelling of the first option is not in it."""


def order_of(command: str) -> list[str]:
    """The long options of a tool in the order in which it lists them; none if it lists them in no order of its own."""
    for commands, names in _ORDERS.items():
        if command in commands.split("/"):
            return names.split()
    return []
