"""jq programs and options, and JSON."""

from tests.fuzz.target import commands

WORDS = r""". .. .a .[] .[0] .[1:2] .["a"] .a? | , ( ) [ ] { } {a:1} {(.a):.b} $x $ENV $__loc__ as ?// def f: def f(g;$h): ; if then elif else end and or not try catch reduce foreach label break // //= = |= += -= *= /= %= + - * / % == != < <= > >= "\(.a)" "\u0000" @base64 @base64d @csv @tsv @html @uri @sh @json @text
length utf8bytelength keys has( in( map( map_values( path( del( getpath( setpath( delpaths( to_entries from_entries with_entries( select( empty error( recurse( env range( floor sqrt pow( log tostring tonumber type infinite nan isinfinite sort sort_by( group_by( min max unique unique_by( reverse contains( inside( startswith( endswith( combinations ltrimstr( explode implode split( join( ascii while( until( repeat( input inputs debug input_line_number splits( test( match( capture( scan( sub( gsub( ascii_downcase walk( transpose first last nth( limit( any all flatten indices( index( rindex( tojson fromjson todate fromdate now mktime gmtime localtime strftime( strptime( dateadd( getpath limit( skip( pick( ltrimstr( abs toarray have_literal_numbers trim splits tostream fromstream( truncate_stream( getpath( paths leaf_paths input_filename $__prog_args SQL INDEX( IN( GROUP_BY ascii @json halt halt_error ltrimstr significand gamma frexp ldexp( scalb( nearbyint trunc
null true false 1e1000 -0 1.5 100000000000000000000 [[[[ {"a":{"b":1}} -n -r -j -a -s -S -c -C -e -R --arg x --argjson --slurpfile --rawfile --args --jsonargs --tab --indent --stream --seq -f import include""".split()

TARGET = commands(
    "jq", ("jq",), WORDS, ("jq", "."), ("jq", "-c", "[.[]?] | map(.a?) | add"),
    ("jq", "-n", "def f(x): x | if . > 5 then . else . + 1 | f(.) end; f(0), [limit(3; repeat(1))]"),
    ("jq", "--stream", "-c", "."), ("jq", "reduce .[]? as [$a, {b: $c}] (0; . + $c)"),
)  # fmt: skip
