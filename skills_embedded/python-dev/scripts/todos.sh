#!/usr/bin/env bash
# List what is left to do: todos.sh [DIRECTORY]
set -uo pipefail

root=${1:-.}
if [[ $root == --help ]]; then
    echo "Usage: todos.sh [DIRECTORY]"
    echo "List TODO, FIXME and XXX comments below DIRECTORY and count them by kind."
    exit 0
fi
[[ -d $root ]] || { echo "todos.sh: $root: not a directory" >&2; exit 2; }

kinds='\b(TODO|FIXME|XXX)\b'
found=$(grep -rnEI --include='*.py' --include='*.md' --include='*.toml' "$kinds" "$root" |
    sort -t: -k1,1 -k2,2n) || true
if [[ -z $found ]]; then
    echo "nothing left to do"
    exit 0
fi
printf '%s\n' "$found" | sed "s|^$root/||"
echo
printf '%s\n' "$found" | grep -oE "$kinds" | sort | uniq -c | sort -k1,1nr -k2
