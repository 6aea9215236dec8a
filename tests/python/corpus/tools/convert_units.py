import argparse

FACTORS = {"m": 1.0, "km": 1000.0, "mi": 1609.344, "ft": 0.3048}


def parse():
    p = argparse.ArgumentParser(
        prog="convert-units",
        description="Convert a length from one unit to another.",
        epilog="example: convert-units 5 km mi",
    )
    p.add_argument("value", type=float)
    p.add_argument("source", choices=sorted(FACTORS))
    p.add_argument("target", choices=sorted(FACTORS))
    group = p.add_mutually_exclusive_group()
    group.add_argument("-d", "--digits", type=int, default=3)
    group.add_argument("-e", "--exact", action="store_true")
    return p.parse_args()


args = parse()
result = args.value * FACTORS[args.source] / FACTORS[args.target]
print(repr(result) if args.exact else f"{result:.{args.digits}f} {args.target}")
