#!/usr/bin/env bash
# Outline Python modules: outline.sh [DIRECTORY]
set -euo pipefail

root=${1:-.}
if [[ $root == --help ]]; then
    echo "Usage: outline.sh [DIRECTORY]"
    echo "List the classes and functions of every module below DIRECTORY, with line numbers."
    exit 0
fi
[[ -d $root ]] || { echo "outline.sh: $root: not a directory" >&2; exit 2; }

modules=0
while IFS= read -r module; do
    modules=$((modules + 1))
    echo "${module#"$root"/}"
    awk '
        match($0, /^[ \t]*(async[ \t]+)?(def|class)[ \t]+[A-Za-z_][A-Za-z_0-9]*/) {
            text = substr($0, RSTART, RLENGTH)
            depth = match(text, /[^ \t]/) - 1
            sub(/^[ \t]+/, "", text)
            printf "  %4d  %*s%s\n", NR, depth, "", text
        }
    ' "$module"
done < <(find "$root" -name '*.py' -type f | sort)
echo "$modules module(s)"
