#!/usr/bin/env bash
# Validate branch names: check-branch.sh NAME...
set -uo pipefail

types='feat|fix|docs|refactor|perf|test|build|ci|chore|release|hotfix'
if [[ $# -eq 0 || $1 == --help ]]; then
    echo "Usage: check-branch.sh NAME..."
    echo "Validate branch names of the form type/short-description."
    [[ $# -eq 0 ]] && exit 2
    exit 0
fi

status=0
for name; do
    case $name in
        main | develop) echo "$name: ok" && continue ;;
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
