"""Awk programs and options."""

from tests.fuzz.target import commands

WORDS = r"""BEGIN{ END{ { } ; function f( ) return getline print printf > >> | < "f" "cat" close( fflush( system( while( for( in do if( else next nextfile exit delete a[ ] $ $0 $1 $NF NR NF FS= OFS= RS= ORS= SUBSEP CONVFMT= OFMT= ENVIRON ARGV ARGC= FILENAME RSTART RLENGTH
length( substr( index( split( sub( gsub( match( sprintf( tolower( toupper( sin( atan2( exp( log( sqrt( int( rand( srand( gensub( patsplit( asort( asorti( strftime( mktime( systime( and( or( xor( lshift( rshift( compl( strtonum( typeof( isarray( PROCINFO[ "sorted_in" @/re/ @f( switch( case default: BEGINFILE{ FPAT= FIELDWIDTHS= IGNORECASE= RT
+ - * / % ^ ** ++ -- += ^= && || ! ~ !~ == != <= >= ? : , ( /a/ /(a|b)*c/ "%s" "%5.2f" "%c" "%*d" "%i" 1e308 0x1F 017 "\n" "\x41" $(-1) $1e6 NF=1e6 -v -F -f -- --re-interval --posix in -e""".split()

TARGET = commands(
    "awk", ("awk", "gawk", "mawk"), WORDS, ("awk", "{ print $1 }"),
    ("awk", "-F,", "function g(n) { return n ? g(n - 1) : 0 } { a[$1] += g(NR) } END { for (k in a) print k, a[k] | \"sort\" }", "in"),
)  # fmt: skip
