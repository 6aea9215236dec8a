#!/usr/bin/env bash
# Make git check each commit of a repository: install-hooks.sh [DIRECTORY]
set -euo pipefail

if [[ ${1-} == --help ]]; then
    echo "Usage: install-hooks.sh [DIRECTORY]"
    echo "Install the hooks pre-commit (check-tree.sh --staged) and commit-msg (check-message.sh)."
    exit 0
fi
here=$(cd "$(dirname "$0")" && pwd)
hooks=$(git -C "${1:-.}" rev-parse --path-format=absolute --git-path hooks)
mkdir -p "$hooks"

install() {
    local hook=$hooks/$1
    if [[ -e $hook ]] && ! grep -q 'git-workflow' "$hook"; then
        echo "install-hooks.sh: $hook exists and is not ours" >&2
        exit 1
    fi
    printf '#!/usr/bin/env bash\n# of the skill git-workflow\nexec bash %q %s\n' "$2" "$3" > "$hook"
    chmod +x "$hook"
}
install pre-commit "$here/check-tree.sh" '--staged >&2'
install commit-msg "$here/check-message.sh" '"$1" >&2'
echo "installed: pre-commit, commit-msg in $hooks"
