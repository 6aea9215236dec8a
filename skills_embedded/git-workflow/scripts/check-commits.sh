#!/usr/bin/env bash
# Validate the commits of a range: check-commits.sh RANGE
set -uo pipefail

if [[ $# -ne 1 || $1 == --help ]]; then
    echo "Usage: check-commits.sh RANGE"
    echo "Validate the messages of the commits of a RANGE such as main..HEAD, oldest first."
    [[ ${1-} == --help ]] && exit 0
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
commits=$(git rev-list --reverse --no-merges "$1" --) || exit 2

status=0
for commit in $commits; do
    if ! problems=$(git log -1 --format=%B "$commit" | bash "$here/check-message.sh"); then
        status=1
        echo "$(git log -1 --format='%h %s' "$commit")"
        sed 's/^/    /' <<< "$problems"
    fi
done
((status)) || echo "ok: $(wc -w <<< "$commits") commit(s)"
exit "$status"
