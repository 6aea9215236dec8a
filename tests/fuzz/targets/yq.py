"""yq expressions, and YAML, XML, properties, CSV, TOML."""

from tests.fuzz.target import commands

WORDS = r"""- : & * ! | > ? --- ... <<: "a" 'b' [a] {a: b} &x *x !!str !!int |- >+ # %YAML .a .[] .. select( map( with_entries( keys length sort_by( group_by( unique del( = |= += * *+ // as $x reduce ireduce tag style anchor alias explode( line_comment path to_json from_json @yaml @csv env( strenv( load( eval( split( join( sub( test( match( capture( date format_datetime( now -o json -p xml csv tsv props toml yaml -n -i -I4 -P -r -s -e eval eval-all ea""".split()

TARGET = commands(
    "yq", ("yq",), WORDS, ("yq", "."), ("yq", ".a.b = 1", "y.yaml"), ("yq", "-o", "json", "."),
    ("yq", "-p", "xml", "."), ("yq", "-p", "csv", "-o", "json", "."), ("yq", "-p", "toml", "."),
    ("yq", "ea", ". as $i ireduce ({}; . * $i)", "y.yaml", "in"), ("yq", "explode(.)"),
)  # fmt: skip
