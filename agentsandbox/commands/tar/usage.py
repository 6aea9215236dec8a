"""The options of `tar`."""

from __future__ import annotations

USAGE = """
Usage: tar [OPTION...] [FILE]...
Store files in an archive, list and extract them.

Examples: tar -cf archive.tar foo bar; tar -tvf archive.tar; tar -xf archive.tar

  -c, --create                    create an archive
  -d, --diff, --compare           find differences between archive and files
  -r, --append                    append files to the end of an archive
  -t, --list                      list the contents
  -u, --update                    append only files newer than those in the archive
  -x, --extract, --get            extract files

  -f, --file=ARCHIVE              the archive; "-" (default) for standard input or output
  -C, --directory=DIR             change to DIR
  -v, --verbose                   list the files processed; twice for details
  -z, --gzip, --gunzip, --ungzip  compress or decompress with gzip
  -j, --bzip2                     … with bzip2
  -J, --xz                        … with xz
      --lzma                      … with lzma
      --zstd                      … with zstd, where the host has it
  -a, --auto-compress             compress by the archive's suffix
  -I, --use-compress-program=PROG  compress through PROG, decompress through PROG -d
  -i, --ignore-zeros              ignore empty blocks in the archive
      --one-file-system           accepted: nothing else is mounted below a directory

  -T, --files-from=FILE           get names to create or extract from FILE
      --null                      -T reads names that end with NUL
  -X, --exclude-from=FILE         exclude the patterns in FILE
      --exclude=PATTERN           exclude files that match PATTERN
      --exclude-vcs               exclude version control directories
      --exclude-tag-all=FILE      exclude directories that hold FILE
      --anchored                  patterns match from the beginning of names
      --wildcards                 use wildcards (default for exclusion)
      --no-recursion              do not recurse into directories

  -h, --dereference               archive what symbolic links point to
  -P, --absolute-names            keep leading "/" in names
  -N, --newer, --after-date=DATE-OR-FILE  only files whose content or status is newer
      --newer-mtime=DATE          only files whose content is newer
      --mtime=DATE-OR-FILE        the time of added files
      --owner=NAME[:UID]          the owner of added files
      --group=NAME[:GID]          the group of added files
      --numeric-owner             always use numbers for owners and groups
      --sort=ORDER                name, none or inode; a sandbox lists by name
      --remove-files              remove files after adding them

  -k, --keep-old-files            existing files are errors
      --skip-old-files            leave existing files alone, silently
      --overwrite                 overwrite existing files in place
  -O, --to-stdout                 extract files to standard output
      --same-owner                accepted: all files belong to one user
  -m, --touch                     do not restore times
  -p, --preserve-permissions, --same-permissions  restore permissions exactly
      --no-same-permissions       apply the umask (default)
      --no-same-owner             extract files as yourself (default)
  -o                              with -x the same as --no-same-owner
      --one-top-level[=DIR]       extract into a directory named for the archive
      --strip-components=NUMBER   strip leading components from names
      --transform, --xform=EXPRESSION  change names with sed's s/// expressions

  -?, --help                      display this help and exit
"""
