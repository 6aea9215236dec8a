#!/usr/bin/env bash
# Make a Python project: scaffold.sh NAME [DIRECTORY]
set -euo pipefail

if [[ $# -lt 1 || $# -gt 2 || $1 == --help ]]; then
    echo "Usage: scaffold.sh NAME [DIRECTORY]"
    echo "Make the project NAME in DIRECTORY (default: the working directory)."
    [[ ${1-} == --help ]] && exit 0
    exit 2
fi

name=$1
parent=${2:-.}
skill=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if ! [[ $name =~ ^[a-z][a-z0-9]*(-[a-z0-9]+)*$ ]]; then
    echo "scaffold.sh: '$name' is not a project name: lower-case words with hyphens" >&2
    exit 2
fi
package=${name//-/_}
root=$parent/$name
if [[ -e $root ]]; then
    echo "scaffold.sh: $root exists" >&2
    exit 1
fi

mkdir -p "$root/src/$package" "$root/tests"
sed -e "s/@NAME@/$name/g" -e "s/@PACKAGE@/$package/g" \
    "$skill/assets/pyproject-template.toml" > "$root/pyproject.toml"
cp "$skill/assets/.gitignore" "$root/.gitignore"

cat > "$root/src/$package/__init__.py" <<PYTHON
"""${name}: what it is, in one sentence."""

__version__ = "0.1.0"
PYTHON
cat > "$root/tests/test_$package.py" <<PYTHON
"""The package can be imported and knows its version."""

import $package


def test_version() -> None:
    assert $package.__version__ == "0.1.0"
PYTHON
cat > "$root/CHANGELOG.md" <<'MARKDOWN'
# Changelog

## Unreleased

- The project exists.
MARKDOWN
printf '# %s\n\nTODO: say what this is for.\n' "$name" > "$root/README.md"

echo "Made $name:"
(cd "$root" && find . -type f | sed 's|^\./|  |' | sort)
