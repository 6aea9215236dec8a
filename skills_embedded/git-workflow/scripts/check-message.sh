#!/usr/bin/env bash
# Validate a commit message: check-message.sh [FILE]
set -uo pipefail

if [[ ${1-} == --help ]]; then
    echo "Usage: check-message.sh [FILE]"
    echo "Validate a commit message against the conventions; standard input without FILE."
    exit 0
fi
if [[ $# -gt 0 && ! -f $1 ]]; then
    echo "check-message.sh: $1: there is no such file" >&2
    exit 2
fi

mapfile -t lines < <(cat -- "${1:--}" | grep -v '^#')
subject=${lines[0]-}
types='feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert'
pattern="^($types)(\([a-z0-9_./-]+\))?(!)?: (.+)\$"
problems=()

if [[ -z $subject ]]; then
    problems+=("the message is empty")
elif [[ $subject =~ $pattern ]]; then
    type=${BASH_REMATCH[1]}
    scope=${BASH_REMATCH[2]//[()]/}
    breaking=${BASH_REMATCH[3]}
    text=${BASH_REMATCH[4]}
    [[ $text == *. ]] && problems+=("the subject ends with a full stop")
    [[ $text =~ ^[[:upper:]] ]] && problems+=("the subject starts with a capital letter")
    [[ $text =~ ^(added|adds|fixed|fixes|changed|changes|updated|updates|removed|removes)\  ]] &&
        problems+=("the subject is not in the imperative: ${BASH_REMATCH[1]}")
else
    problems+=("the subject is not 'type(scope): text' with a type of ${types//|/, }")
fi
((${#subject} > 72)) && problems+=("the subject has ${#subject} characters, 72 are allowed")
[[ -n ${lines[1]-} ]] && problems+=("there is no blank line after the subject")
for ((i = 2; i < ${#lines[@]}; i++)); do
    [[ ${lines[i]} == *://* ]] && continue
    ((${#lines[i]} > 72)) &&
        problems+=("line $((i + 1)) has ${#lines[i]} characters, 72 are allowed")
    [[ ${lines[i]} == 'BREAKING CHANGE: '* ]] && breaking='!'
done

if ((${#problems[@]})); then
    printf '%s\n' "${problems[@]}"
    exit 1
fi
echo "ok: $type${scope:+ in $scope}${breaking:+, breaking}"
