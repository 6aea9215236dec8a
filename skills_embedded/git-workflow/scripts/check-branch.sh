#!/usr/bin/env bash
# Validate branch names: check-branch.sh [NAME...]
set -uo pipefail

types='feat|fix|docs|refactor|perf|test|build|ci|chore|release|hotfix'
if [[ ${1-} == --help ]]; then
    echo "Usage: check-branch.sh [NAME...]"
    echo "Validate branch names of the form type/short-description; the current one by default."
    exit 0
fi
if [[ $# -eq 0 ]]; then
    current=$(git symbolic-ref -q --short HEAD) || {
        echo "check-branch.sh: there is no current branch: give a NAME" >&2
        exit 2
    }
    set -- "$current"
fi

status=0
for name; do
    case $name in
        main | master | develop) echo "$name: ok" && continue ;;
        *[[:upper:]]*) problem="upper-case letters" ;;
        *[[:space:]]*) problem="white space" ;;
        *..* | *~* | *^* | *:* | *\\* | *.lock | */ | /* | *//*) problem="not a valid reference" ;;
        *)
            if ! [[ $name =~ ^($types)/ ]]; then
                problem="it does not start with a type (${types//|/, })"
            elif ! [[ $name =~ ^[a-z]+/[a-z0-9]+([.-][a-z0-9]+)*$ ]]; then
                problem="the description is not made of lower-case words with hyphens"
            elif ((${#name} > 60)); then
                problem="longer than 60 characters"
            else
                echo "$name: ok" && continue
            fi
            ;;
    esac
    echo "$name: $problem"
    status=1
done
exit "$status"
