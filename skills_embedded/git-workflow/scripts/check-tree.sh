#!/usr/bin/env bash
# Check files before a commit: check-tree.sh [DIRECTORY | --staged]
set -u

root=${1:-.}
if [[ $root == --help ]]; then
    echo "Usage: check-tree.sh [DIRECTORY]"
    echo "       check-tree.sh --staged"
    echo "Find conflict markers, secrets and very large files; status 1 if any: below DIRECTORY,"
    echo "or in the files that git would commit, as they are staged."
    exit 0
fi

report=$(mktemp)
staged=$(mktemp -d)
trap 'rm -rf "$report" "$staged"' EXIT
if [[ $root == --staged ]]; then
    cd "$(git rev-parse --show-toplevel)" || exit 2
    while IFS= read -r -d '' name; do
        mkdir -p "$staged/$(dirname "$name")" && git show ":$name" > "$staged/$name"
    done < <(git diff --cached --name-only --diff-filter=d -z)
    root=$staged
fi
[[ -d $root ]] || { echo "check-tree.sh: $root: not a directory" >&2; exit 2; }

secret='AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY-----|gh[pousr]_[A-Za-z0-9]{36}'
named="(password|passwd|secret|api_?key|token)[\"']?"
password="${named}[[:space:]]*[:=][[:space:]]*[\"'][^\"']{8,}[\"']"
{
    grep -rnIE --exclude-dir=.git '^(<{7}|>{7}|\|{7}) |^={7}$' "$root" |
        awk -F: '{ print $1 ":" $2 ": conflict marker" }'
    grep -rnIoE --exclude-dir=.git "$secret" "$root" |
        awk -F: '{ print $1 ":" $2 ": secret (" substr($3, 1, 8) "...)" }'
    grep -rnIiE --exclude-dir=.git "$password" "$root" |
        awk -F: '{ print $1 ":" $2 ": looks like a password" }'
    find "$root" -name .git -prune -o -type f -size +1024k -print | sed 's/$/: larger than 1 MiB/'
} >> "$report"

if [[ -s $report ]]; then
    sort -u "$report" | sed "s|^$root/||"
    exit 1
fi
echo "ok: $(find "$root" -name .git -prune -o -type f -print | wc -l) file(s)"
