#!/usr/bin/env bash
# Release the "Unreleased" section: changelog.sh VERSION DATE [FILE]
set -euo pipefail

if [[ ${1-} == --help || $# -lt 2 || $# -gt 3 ]]; then
    echo "Usage: changelog.sh VERSION DATE [FILE]"
    echo "Turn the section \"Unreleased\" of FILE (CHANGELOG.md) into the release VERSION"
    echo "of DATE (YYYY-MM-DD)."
    [[ ${1-} == --help ]] && exit 0
    exit 2
fi
version=$1
date=$2
file=${3:-CHANGELOG.md}

if ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+([a-z0-9.+-]*)$ ]]; then
    echo "changelog.sh: not a version: $version" >&2
    exit 2
fi
if ! [[ $date =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]]; then
    echo "changelog.sh: not a date: $date" >&2
    exit 2
fi
[[ -f $file ]] || { echo "changelog.sh: $file: there is no such file" >&2; exit 1; }
if grep -qF "## $version " "$file"; then
    echo "changelog.sh: $file has $version already" >&2
    exit 1
fi

entries=$(sed -n '/^## Unreleased/,/^## [0-9]/{/^- /p}' "$file")
if [[ -z $entries ]]; then
    echo "changelog.sh: there is nothing under Unreleased" >&2
    exit 1
fi
sed -i "s/^## Unreleased\$/## Unreleased\n\n## $version ($date)/" "$file"
echo "$version has $(printf '%s\n' "$entries" | wc -l) change(s):"
printf '%s\n' "$entries"
