"""Attacks with large values: every use of a value with every kind of text, many processes that hold
much, slow work in few steps.
"""

from __future__ import annotations

from tests.security.attack_scripts import attack

KINDS = {
    "a": "head -c 15000000 /dev/zero | tr '\\0' a",
    "blank": "head -c 15000000 /dev/zero | tr '\\0' ' '",
    "newline": "head -c 4000000 /dev/zero | tr '\\0' '\\n'; echo x",
    "byte": "head -c 15000000 /dev/zero | tr '\\0' '\\377'",
    "wide": "yes é | tr -d '\\n' | head -c 15000000",
    "quote": "head -c 5000000 /dev/zero | tr '\\0' \"'\"",
    "backslash": "head -c 5000000 /dev/zero | tr '\\0' '\\\\'",
    "bracket": "head -c 200000 /dev/zero | tr '\\0' '['",
    "star": "head -c 15000 /dev/zero | tr '\\0' '*'",
    "slash": "head -c 5000000 /dev/zero | tr '\\0' '/'",
    "colon": "head -c 5000000 /dev/zero | tr '\\0' ':'",
    "words": "yes a | head -c 14000000",
    "digits": "head -c 5000000 /dev/zero | tr '\\0' 9",
}
"""Commands that write one."""

USES = [
    'echo "$x" "$x" "$x" > /dev/null', "printf '%s %q %b' \"$x\" \"$x\" \"$x\" > /dev/null", 'printf "$x" > /dev/null', 'declare -p x > /dev/null; set > /dev/null',
    'echo "${x@Q}${x@E}${x@P}" > /dev/null', 'echo "${x@A}${x@L}" > /dev/null', 'echo "${x^^}" > /dev/null', 'echo "${x,,[a-z]}${x~~}" > /dev/null', 'echo ${#x} "${x:5:10000000}" > /dev/null', 'echo "${x//a/bb}" > /dev/null',
    'echo "${x//[a ]/}" > /dev/null', 'echo "${x%%*b}${x##*b}${x%b*}${x#b*}" > /dev/null', 'echo "${x//*b*c/}" > /dev/null', 'shopt -s extglob; echo "${x//+(a|b)c/}" > /dev/null', 'shopt -s extglob; echo "${x%%+([[:space:]])}" > /dev/null', 'shopt -s extglob; [[ $x == *(a|b)*(c)d ]]',
    "[[ $x == $x ]]", '[[ $x == "$x" ]]', "[[ a == $x ]]", "[[ $x =~ $x ]]", "[[ $x =~ (a|b)*c ]]", "[[ $x < $x ]]; [ \"$x\" = \"$x\" ]; test \"$x\" -eq 1", "case $x in $x) :;; *b) :;; esac", 'case "$x" in a*a*a*b) :;; esac', "set -- $x; echo $#", "IFS=a; set -- $x; echo $#",
    'IFS=$x; y="a b"; set -- $y', "y=($x); echo ${#y[@]}", 'for i in $x; do :; done', 'read y <<< "$x"', 'read -r y z <<< "$x"', 'IFS=a read -ra y <<< "$x"', 'mapfile y <<< "$x"', 'mapfile -d a y <<< "$x"', 'eval "$x"', "eval \"y='$x'\"", "eval \"echo $x\" > /dev/null", 'bash -c "$x"', ". /dev/stdin <<< \"$x\"",
    "bash <<< \"$x\"", 'trap "$x" EXIT', "alias foo=\"$x\"; shopt -s expand_aliases\nfoo", "$x", '"$x"', "cat $x", 'cat "$x"', 'cd "$x"', 'ls "$x"', "> \"$x\"", 'PATH=$x foo', "PATH=$x; foo", "CDPATH=$x; cd y", "HOME=$x; cd; echo ~ | wc -c", "PS4=$x; set -x; :; :", "set -x; : \"$x\"",
    "echo $((x))", "echo $(($x))", "let \"$x\"", "declare -i y=\"$x\"", "a[$x]=1", "declare -A m; m[$x]=1; echo \"${m[$x]}\"", "echo ${!x}", "declare -n r=$x", "unset \"$x\"", "export \"$x\"", "export x; env | wc -c", "local $x", "ulimit \"$x\"", "kill \"$x\"; kill -\"$x\" 1", "wait \"$x\"; fg \"$x\"",
    "hash \"$x\"; type \"$x\"; command -v \"$x\"", 'cat <<< "$x" | wc', 'cat << D | wc\n$x\nD', "getopts \"$x\" y -a", "complete -W \"$x\" y; compgen -W \"$x\" a", "compgen -W \"$x\" | wc", "history -s \"$x\"", "sleep \"$x\"", "seq \"$x\"", "expr \"$x\" : \"$x\"", "expr \"$x\" + 1", "expr length \"$x\"; expr index \"$x\" b; expr substr \"$x\" 2 9 | wc -c",
    "basename \"$x\"; dirname \"$x\"", "realpath -m \"$x\"; readlink -f \"$x\"", "mkdir -p \"$x\"", "date -d \"$x\"", "date +\"$x\" | wc -c", "TZ=$x date", "tr \"$x\" b < /dev/null", "tr -d \"$x\" < /etc/passwd", "cut -d \"$x\" -f 1 /etc/passwd; cut -f \"$x\" /etc/passwd", "sort -k \"$x\" /etc/passwd; sort -t \"$x\" /etc/passwd", "grep \"$x\" /etc/passwd",
    "grep -E \"$x\" /etc/passwd", "grep -F \"$x\" /etc/passwd", "grep -P \"$x\" /etc/passwd", "sed \"$x\" /etc/passwd", "sed \"s/a/$x/\" /etc/passwd | wc -c", "sed \"s/$x/a/\" /etc/passwd", "sed \"y/$x/$x/\" /etc/passwd", "awk \"$x\" /etc/passwd", "awk -v y=\"$x\" 'BEGIN{print length(y), toupper(y) > \"/dev/null\"}'", "awk -F \"$x\" '{print $1}' /etc/passwd > /dev/null",
    "awk '{n=split($0,a,\"\"); gsub(/a/,\"bb\"); print n, length($0)}' <<< \"$x\"", "awk '{$5=1; print NF}' <<< \"$x\"", "awk '{print index($0,\"b\"), match($0,/b+/), substr($0,3,5), sprintf(\"%s%s\",$0,$0) > \"/dev/null\"}' <<< \"$x\"", "jq \"$x\" <<< 1", "jq -n --arg x \"$x\" '$x|length,(split(\"a\")|length),ascii_upcase[:3],@json[:3],@base64[:3]'", "jq -R 'length,test(\"b\"),explode[0]' <<< \"$x\"",
    "jq . <<< \"$x\"", "jq -Rs @html <<< \"$x\" > /dev/null", "bc <<< \"$x\"", "dc -e \"$x\"", "xargs echo <<< \"$x\" | wc -c", "xargs -n 1 echo <<< \"$x\" | wc -c", "xargs -d a echo <<< \"$x\" | wc -c", "xargs -I \"$x\" echo \"$x\" <<< a | wc -c", "find . -name \"$x\"", "find . -regex \"$x\"", "find . -printf \"$x\"", "find . -exec echo \"$x\" \\; | wc -c",
    "sort <<< \"$x\" | wc; sort -n <<< \"$x\" | wc; sort -u <<< \"$x\" | wc", "sort -V <<< \"$x\" | wc; sort -h <<< \"$x\" | wc", "uniq -c <<< \"$x\" | wc; uniq -i <<< \"$x\" | wc", "tac <<< \"$x\" | wc; rev <<< \"$x\" | wc", "fold -w 3 <<< \"$x\" | wc; fmt <<< \"$x\" | wc", "nl <<< \"$x\" | wc; pr <<< \"$x\" | wc", "column -t <<< \"$x\" | wc", "expand <<< \"$x\" | wc; unexpand -a <<< \"$x\" | wc", "paste -s -d \"$x\" /etc/passwd | wc",
    "join -t \"$x\" /etc/passwd /etc/passwd | wc", "comm <(cat <<< \"$x\") <(cat <<< \"$x\") | wc", "diff <(cat <<< \"$x\") <(cat <<< \"$x$x\") | wc", "diff -w <(cat <<< \"$x\") /etc/passwd | wc", "patch -p1 <<< \"$x\"", "base64 -d <<< \"$x\" | wc; base32 -d <<< \"$x\" | wc", "base64 <<< \"$x\" | wc; od <<< \"$x\" | wc -l", "xxd <<< \"$x\" | tail -1; xxd -r <<< \"$x\" | wc", "hexdump -C <<< \"$x\" | tail -1; strings <<< \"$x\" | wc",
    "split -l 1 - z <<< \"$x\"", "csplit - \"/$x/\" <<< a", "tee \"$x\" <<< a", "numfmt --to=iec <<< \"$x\" | wc; numfmt \"$x\"", "factor \"$x\"", "tsort <<< \"$x\" | wc", "shuf <<< \"$x\" | wc; shuf -e $x | wc", "iconv -t utf-16 <<< \"$x\" | wc; iconv -f \"$x\"", "md5sum \"$x\"; md5sum -c <<< \"$x\"", "file - <<< \"$x\"", "tar cf \"$x\" /etc/passwd; tar xf - <<< \"$x\"", "gunzip <<< \"$x\"; unzip \"$x\"",
    "yq . <<< \"$x\"", "sqlite3 :memory: \"$x\"", "sqlite3 :memory: \"select length('$x')\"", "env -S \"$x\"; env \"$x\"=1 true", "timeout \"$x\" true; nice -n \"$x\" true", "stat -c \"$x\" /etc/passwd | wc -c; chmod \"$x\" /etc/passwd; touch -d \"$x\" y", "head -n \"$x\" /etc/passwd; tail -c \"$x\" /etc/passwd; truncate -s \"$x\" y; dd bs=\"$x\"", "rg \"$x\" .; rg -g \"$x\" a .", "tree -P \"$x\"; ls -I \"$x\"", "printf -v y \"$x\" 1; printf '%*d' \"$x\" 1", "openssl dgst -\"$x\" /etc/passwd", "curl \"$x\"; wget \"$x\"",
]  # fmt: skip
"""What is done with `$x`."""

for number, use in enumerate(USES):
    for offset in range(3):  # three kinds for each use, all kinds in turn
        kind = list(KINDS)[(number * 3 + offset) % len(KINDS)]
        attack("large", f"x=$({KINDS[kind]}); {use}")

HOLDERS = [
    'trap "$x$i" EXIT; sleep 100', "y=$x$i; sleep 100", 'f() { local y=$x$i; sleep 100; }; f', 'sleep 100 3<<< "$x$i"', 'echo "$x$i" | { sleep 100; cat; }', 'read y < <(sleep 100; echo "$x$i")', 'set -- "$x$i"; sleep 100', 'alias y="$x$i"; sleep 100', 'complete -W "$x$i" y; sleep 100', 'eval "f() { : $x$i; }"; sleep 100',
    'y=("$x$i" "$x$i"); sleep 100', 'export y="$x$i"; bash -c "sleep 100"', 'cat <(echo "$x$i"; sleep 100)', "{ echo \"$x$i\"; sleep 100; } | tac", "{ echo \"$x$i\"; sleep 100; } | tail -c 10000000", "{ echo \"$x$i\"; sleep 100; } | sort", "{ echo \"$x$i\"; sleep 100; } | shuf", "{ echo \"$x$i\"; sleep 100; } | sed s/b/c/", "{ echo \"$x$i\"; sleep 100; } | grep b", "{ echo \"$x$i\"; sleep 100; } | awk '{a[NR]=$0}'",
    "{ echo \"$x$i\"; sleep 100; } | jq -Rs .", "{ echo \"$x$i\"; sleep 100; } | column", "{ echo \"$x$i\"; sleep 100; } | wc", "{ echo \"$x$i\"; sleep 100; } | diff - /etc/passwd", "awk -v y=\"$x$i\" 'BEGIN{system(\"sleep 100\")}'", "awk 'BEGIN{y=sprintf(\"%1000000d\",1); system(\"sleep 100\")}'", "sort /dev/zero", "tac /dev/zero", "head -c 10000000 /dev/zero | sort | sleep 100", "gzip -c /dev/zero | sleep 100", "coproc cat; echo \"$x$i\" >&${COPROC[1]}; sleep 100", "exec {fd}<<< \"$x$i\"; sleep 100",
    'command_not_found_handle() { sleep 100; }; nosuch "$x$i"', 'xargs -0 sh -c "sleep 100" <<< "$x$i"', 'find . -exec sh -c "sleep 100" "$x$i" \\;', 'env "y=$x$i" sleep 100', 'sleep 100 "$x$i"', 'tee >(sleep 100) <<< "$x$i"', 'mapfile y <<< "$x$i"; sleep 100', 'history -s "$x$i"; sleep 100',
]  # fmt: skip
"""What a process does to hold much while it waits."""

for number, holder in enumerate(HOLDERS):
    size = (1_000_000, 10_000_000)[number % 2]
    attack(
        "crowd",
        f"x=$(head -c {size} /dev/zero | tr '\\0' a); for i in {{1..80}}; do {{ {holder}; }} & done; wait",
    )
    attack(
        "crowd",
        f"x=$(head -c 1000000 /dev/zero | tr '\\0' a); for i in {{1..250}}; do ( {holder} ) & done 2> /dev/null; wait",
    )

DENSE = [
    "[[ x =~ $p$i ]]", "[[ x == $p*$i ]]", "case x in $p?$i) ;; esac", "((y=${q}i))", "y=$((${q}$i))", 'eval "y=\'$p$i\'"', 'grep "$p$i" /dev/null', 'grep -E "$p|$i" /dev/null', 'grep -P "$p$i" /dev/null', 'sed "s/$p$i/x/" /dev/null', "awk \"/$p$i/\" /dev/null", "jq -n '\"x\"|test($a)' --arg a \"$p$i\"", 'expr x : "$p$i"', 'find /dev/null -regex "$p$i"', 'date +"$p$i"',
    'printf "$p$i"', 'tr "$p$i" x < /dev/null', 'find /dev/null -name "$p$i*"', 'rg "$p$i" /dev/null', 'csplit /dev/null "/$p$i/"', "y=${p//b*c$i/}", "y=${p%%*c$i}", 'IFS=$p$i; set -- $i', 'TZ=$p$i date', 'type "$p$i"', '"$p$i"', 'cd "/$p$i"', 'ls "$p$i"', "trap '$p' USR1; kill -USR1 $$", 'sort -t "$i" <<< "$p"', 'echo "$p" | md5sum', "y=($p $i $p)", 'read -a y <<< "$p $i"', "mapfile -t y <<< \"$p$i\"", "printf -v y '%s' \"$p\" \"$p\" \"$p\"", "bc <<< \"$q$i\"", "sqlite3 :memory: \"select '$p$i'\"", "yq . <<< \"$p: $i\"", 'diff <(echo "$p") <(echo "$i")', "alias x=\"$p$i\"",
]  # fmt: skip
"""One round of a loop that counts as few steps."""

for round_ in DENSE:
    attack(
        "dense",
        f"p=$(head -c 15000 /dev/zero | tr '\\0' b); q=$(yes 1+ | head -c 20000 | tr -d '\\n'); for ((i = 0; i < 100000; i++)); do {round_}; done > /dev/null 2>&1",
    )
