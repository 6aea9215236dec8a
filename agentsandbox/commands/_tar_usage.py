"""The options of `tar`."""

from __future__ import annotations

__all__ = ["USAGE"]

USAGE = """
Usage: tar [OPTION...] [FILE]...
Store files in an archive and get them back: `tar -cf archive.tar foo bar`, `tar -tvf archive.tar`, `tar -xf archive.tar`.

  -A, --catenate, --concatenate   append archives to an archive
  -c, --create                    create an archive
  -d, --diff, --compare           find differences between archive and files
      --delete                    delete members from the archive
  -r, --append                    append files to the end of an archive
  -t, --list                      list the contents
      --test-label                print the label of the archive, or compare it with the operands
  -u, --update                    append only files newer than those in the archive
  -x, --extract, --get            extract files

  -f, --file=ARCHIVE              the archive; "-" (default) for standard input or output
  -C, --directory=DIR             change to DIR
  -v, --verbose                   list the files processed; twice for details
  -z, --gzip, --gunzip, --ungzip  compress or decompress with gzip
  -j, --bzip2                     … with bzip2
  -J, --xz                        … with xz
      --lzma                      … with lzma
      --zstd                      refused: zstd is not available
  -a, --auto-compress             compress by the archive's suffix
  -I, --use-compress-program=PROG  gzip, bzip2 or xz by the name of its program
  -b, --blocking-factor=BLOCKS    512 times BLOCKS bytes for each record (20)
      --record-size=NUMBER        NUMBER of bytes for each record, a multiple of 512
  -B, --read-full-records         accepted: reads are always of full records
  -i, --ignore-zeros              ignore empty blocks in the archive
      --no-auto-compress          disable --auto-compress
  -H, --format=FORMAT             gnu (default), oldgnu, pax, posix, ustar or v7
      --old-archive, --portability  the same as --format=v7
      --posix                     the same as --format=posix
      --pax-option=LIST           delete=PATTERN, exthdr.name=STRING, KEYWORD:=VALUE with commas between
  -V, --label=TEXT                the volume's name; a pattern for it when reading
  -W, --verify                    compare the archive with the files after writing it
      --force-local               accepted: archives are always local
      --rmt-command=COMMAND       accepted: archives are always local
      --rsh-command=COMMAND       accepted: archives are always local
  -n, --seek                      accepted: nothing depends on it here
      --no-seek                   accepted: nothing depends on it here
  -S, --sparse                    accepted: files in a sandbox have no holes
      --sparse-version=MAJOR[.MINOR]  accepted: files in a sandbox have no holes
      --hole-detection=TYPE       raw or seek: files in a sandbox have no holes
      --check-device              accepted: there are no incremental archives
      --no-check-device           accepted: there are no incremental archives
      --one-file-system           accepted: nothing else is mounted below a directory
      --restrict                  accepted: there is nothing to restrict

      --add-file=FILE             add FILE, whose name may begin with a dash
  -T, --files-from=FILE           get names to create or extract from FILE
      --null                      -T reads names that end with NUL
      --no-null                   disable --null
      --verbatim-files-from       -T reads names verbatim, no options
      --no-verbatim-files-from    -T may read options (default)
      --unquote                   -T takes escapes out of names (default)
      --no-unquote                -T leaves them in
  -X, --exclude-from=FILE         exclude the patterns in FILE
      --exclude=PATTERN           exclude files that match PATTERN
      --exclude-vcs               exclude version control directories
      --exclude-backups           exclude backup and lock files
      --exclude-caches            of directories with a CACHEDIR.TAG archive only the tag
      --exclude-caches-under      … only the directory
      --exclude-caches-all        … nothing
      --exclude-tag=FILE          of directories that hold FILE archive only FILE
      --exclude-tag-under=FILE    … only the directory
      --exclude-tag-all=FILE      … nothing
      --exclude-ignore=FILE       read patterns for each directory from FILE in it
      --exclude-ignore-recursive=FILE  the same
      --anchored                  patterns match from the beginning of names
      --no-anchored               patterns match after any "/" (default for exclusion)
      --wildcards                 use wildcards (default for exclusion)
      --no-wildcards              verbatim string matching
      --wildcards-match-slash     wildcards match "/" (default)
      --no-wildcards-match-slash  wildcards do not match "/"
      --ignore-case               ignore case
      --no-ignore-case            case sensitive matching (default)
      --recursion                 recurse into directories (default)
      --no-recursion              do not

  -h, --dereference               archive what symbolic links point to
  -P, --absolute-names            keep leading "/" in names
      --hard-dereference          archive every hard link as a file
  -l, --check-links               tell of files of which not every name is archived
  -N, --newer, --after-date=DATE-OR-FILE  only files whose content or status is newer
      --newer-mtime=DATE          only files whose content is newer
      --ignore-failed-read        unreadable files do not matter for the status
      --clamp-mtime               --mtime is only for files that are newer
      --owner-map=FILE            lines of an old and a new owner
      --group-map=FILE            lines of an old and a new group
      --atime-preserve[=METHOD]   accepted: reading does not change times here
      --mode=CHANGES              the mode of added files
      --mtime=DATE-OR-FILE        the time of added files
      --owner=NAME[:UID]          the owner of added files
      --group=NAME[:GID]          the group of added files
      --numeric-owner             always use numbers for owners and groups
      --sort=ORDER                name, none or inode; a sandbox lists by name
      --remove-files              remove files after adding them

  -k, --keep-old-files            existing files are errors
      --skip-old-files            leave existing files alone, silently
      --keep-directory-symlink    links to directories stay
      --no-overwrite-dir          existing directories keep mode and time
      --overwrite-dir             they do not (default)
      --recursive-unlink          remove directories with all in them to make room
      --backup[=CONTROL]          back up files before they are replaced
      --suffix=STRING             the suffix of backups, not "~"
      --keep-newer-files          leave files alone that are newer than the archive's
      --overwrite                 overwrite existing files in place
  -U, --unlink-first              remove existing files first (default)
  -O, --to-stdout                 extract files to standard output
      --to-command=COMMAND        extract files to the standard input of COMMAND
      --ignore-command-error      ignore its status
      --no-ignore-command-error   do not (default)
      --occurrence[=NUMBER]       only the NUMBERth member of each name (1)
  -K, --starting-file=MEMBER-NAME  begin at this member
      --delay-directory-restore   accepted: directories are always finished last
      --no-delay-directory-restore  accepted: directories are always finished last
  -s, --preserve-order, --same-order  accepted: operands may stand in any order
      --same-owner                accepted: all files belong to one user
      --acls                      accepted: files here have none (but --format=posix)
      --no-acls                   accepted: files here have none
      --selinux                   accepted: files here have none (but --format=posix)
      --no-selinux                accepted: files here have none
      --xattrs                    accepted: files here have none (but --format=posix)
      --no-xattrs                 accepted: files here have none
      --xattrs-include=MASK       accepted: files here have none
      --xattrs-exclude=MASK       accepted: files here have none
  -m, --touch                     do not restore times
  -p, --preserve-permissions, --same-permissions  restore permissions exactly
      --no-same-permissions       apply the umask (default)
      --no-same-owner             extract files as yourself (default)
  -o                              with -c --format=v7, with -x --no-same-owner
      --one-top-level[=DIR]       extract into a directory named for the archive
      --strip-components=NUMBER   strip leading components from names
      --transform, --xform=EXPRESSION  change names with sed's s/// expressions
      --show-transformed-names, --show-stored-names  show names after that

      --full-time                 show times in full
      --utc                       show times in UTC
      --totals                    print the number of bytes afterwards
      --index-file=FILE           -v writes to FILE
      --quoting-style=STYLE       literal, shell, shell-always, shell-escape, shell-escape-always, c, c-maybe, escape, locale, clocale
      --quote-chars=STRING        quote these characters as well
      --no-quote-chars=STRING     do not quote these characters
      --show-omitted-dirs         tell of directories that are left out
      --show-defaults             show the defaults
      --warning=KEYWORD           turn warnings on, or off with no-KEYWORD
  -w, --interactive, --confirmation  ask before every action
      --usage                     show a short usage message
  -R, --block-number              show the block of each member
  -?, --help                      display this help and exit
"""
