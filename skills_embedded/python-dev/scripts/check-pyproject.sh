#!/usr/bin/env bash
# Check a pyproject.toml: check-pyproject.sh [FILE]
set -uo pipefail

file=${1:-pyproject.toml}
if [[ $file == --help ]]; then
    echo "Usage: check-pyproject.sh [FILE]"
    echo "Report missing or malformed fields of a pyproject.toml; status 1 if any."
    exit 0
fi
if [[ ! -f $file ]]; then
    echo "check-pyproject.sh: $file: there is no such file" >&2
    exit 2
fi

problems=0
report() {
    echo "$file: $1"
    problems=$((problems + 1))
}

# value TABLE KEY: print the value of KEY in [TABLE], without quotes
value() {
    awk -v table="[$1]" -v key="$2" '
        /^\[/ { inside = ($0 == table) }
        inside && match($0, "^" key "[ \t]*=[ \t]*") {
            text = substr($0, RLENGTH + 1)
            sub(/[ \t]*#.*$/, "", text)
            gsub(/^"|"$/, "", text)
            print text
            exit
        }
    ' "$file"
}

name=$(value project name)
version=$(value project version)
python=$(value project requires-python)

[[ -n $(value build-system requires) ]] || report "[build-system] does not say what it requires"
[[ -n $(value build-system build-backend) ]] || report "[build-system] names no build-backend"
if [[ -z $name ]]; then
    report "[project] has no name"
elif ! [[ $name =~ ^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$ ]]; then
    report "[project] name is malformed: $name"
fi
if [[ -z $version ]]; then
    grep -q '^dynamic *=.*"version"' "$file" || report "[project] has no version"
elif ! [[ $version =~ ^[0-9]+(\.[0-9]+)*((a|b|rc)[0-9]+)?(\.post[0-9]+)?(\.dev[0-9]+)?$ ]]; then
    report "[project] version is malformed: $version"
fi
[[ -n $(value project description) ]] || report "[project] has no description"
if [[ -z $python ]]; then
    report "[project] does not say requires-python"
elif [[ $python != *[0-9].[0-9]* ]]; then
    report "[project] requires-python is malformed: $python"
fi
while read -r line dependency; do
    report "line $line: $dependency has no version"
done < <(awk '
    /^\[/ { inside = 0 }
    /^dependencies *= *\[/ { inside = 1 }
    inside {
        text = $0
        while (match(text, /"[A-Za-z0-9._-]+(\[[^]]*\])?"/)) {
            print NR " " substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
        }
    }
    inside && /\]/ { inside = 0 }
' "$file")

if ((problems)); then
    echo "$problems problem(s)"
    exit 1
fi
echo "$file: ok ($name $version)"
