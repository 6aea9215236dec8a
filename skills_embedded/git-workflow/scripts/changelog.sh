#!/usr/bin/env bash
# Make release notes from a log: changelog.sh [FILE | --range RANGE]
set -euo pipefail

if [[ ${1-} == --help ]]; then
    echo "Usage: changelog.sh [FILE]"
    echo "       changelog.sh --range RANGE"
    echo "Group subjects (one per line, each perhaps after a hash) by type, as Markdown:"
    echo "those of FILE or standard input, or those of the commits of a RANGE such as v1.0..HEAD."
    exit 0
fi
log=${1:--}
if [[ $log == --range ]]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    git log --no-merges --format='%h %s' "${2:?changelog.sh: --range needs a RANGE}" -- > "$log"
fi

declare -A titles=(
    [feat]="Added" [fix]="Fixed" [perf]="Faster" [docs]="Documentation" [revert]="Reverted"
)
declare -A entries=()
breaking=""
other=0

while IFS= read -r line || [[ -n $line ]]; do
    subject=$(sed -E 's/^[0-9a-f]{7,40} //' <<< "$line")
    if [[ $subject =~ ^([a-z]+)(\(([^\)]*)\))?(!?):\ (.+)$ ]]; then
        type=${BASH_REMATCH[1]}
        scope=${BASH_REMATCH[3]}
        text="${scope:+**$scope**: }${BASH_REMATCH[5]}"
        [[ ${BASH_REMATCH[4]} == '!' ]] && breaking+="- $text"$'\n'
        if [[ -n ${titles[$type]-} ]]; then
            entries[$type]+="- $text"$'\n'
            continue
        fi
    fi
    [[ -n $subject ]] && other=$((other + 1))
done < <(cat -- "$log")

if [[ -n $breaking ]]; then
    printf '### Breaking\n\n%s\n' "$breaking"
fi
for type in feat fix perf docs revert; do
    if [[ -n ${entries[$type]-} ]]; then
        printf '### %s\n\n%s\n' "${titles[$type]}" "${entries[$type]}"
    fi
done
if ((other)); then
    echo "$other other change(s)"
fi
