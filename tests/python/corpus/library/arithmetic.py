import cmath
import fractions
import math
import operator
import random
import statistics as st
from decimal import ROUND_UP, Decimal, getcontext, localcontext
from fractions import Fraction

data = [2.5, 3.25, 5.5, 11.5, 11.5, 14]
print(
    st.mean(data),
    st.median(data),
    st.mode(data),
    st.stdev(data),
    st.pvariance(data),
    st.quantiles(data, n=4),
    st.fmean(data),
    st.geometric_mean([1, 2, 4]),
    st.harmonic_mean([40, 60]),
    st.multimode("aabb"),
)
print(
    st.linear_regression([1, 2, 3], [2, 4, 6]),
    st.correlation([1, 2, 3], [3, 2, 1]),
    st.NormalDist(100, 15).cdf(115),
    st.median_grouped([1, 2, 2, 3]),
)
print(
    Decimal("0.1") + Decimal("0.2"),
    Decimal(1) / 7,
    Decimal("1.005").quantize(Decimal("0.01"), ROUND_UP),
    Decimal("1E+3").normalize(),
    f"{Decimal('1234.5'):,.2f}",
    Decimal("NaN").is_nan(),
    Decimal(2).sqrt(),
)
with localcontext() as c:
    c.prec = 5
    print(Decimal(1) / 3, Decimal("123456") + 1)
print(
    Fraction(3, 6),
    Fraction("0.125") + Fraction(1, 3),
    Fraction(0.5),
    Fraction(math.pi).limit_denominator(100),
    math.floor(Fraction(7, 2)),
    f"{Fraction(1, 3):.3f}",
)
print(
    math.comb(10, 3),
    math.perm(5, 2),
    math.gcd(12, 18),
    math.lcm(4, 6),
    math.isqrt(17),
    math.prod([2, 3]),
    math.dist((0, 0), (3, 4)),
    math.hypot(5, 12),
    math.fsum([0.1] * 10),
    math.copysign(1, -0.0),
    math.isclose(0.1 + 0.2, 0.3),
    math.nextafter(1, 2),
    math.log2(8),
    math.factorial(20),
    math.sumprod([1, 2], [3, 4]),
)
print(
    cmath.sqrt(-1),
    abs(3 + 4j),
    pow(3, -1, 11),
    pow(2, 10, 1000),
    (0.1).as_integer_ratio(),
    (2.5).hex(),
    float.fromhex("0x1.8p1"),
    math.trunc(-2.7),
    operator.itemgetter(1)([1, 2]),
)
r = random.Random(42)
print(
    r.random(),
    r.randint(1, 6),
    r.choice("abc"),
    r.sample(range(100), 4),
    r.choices([1, 2], [9, 1], k=3),
    r.gauss(0, 1),
    r.uniform(1, 2),
    r.getrandbits(20),
    r.randbytes(3).hex(),
)
deck = list(range(8))
random.seed("text")
random.shuffle(deck)
print(deck, random.triangular(0, 1), random.expovariate(2), random.betavariate(1, 2))
for bad in (
    lambda: math.sqrt(-1),
    lambda: Decimal("x"),
    lambda: Fraction(1, 0),
    lambda: st.mean([]),
    lambda: 2.0**10000,
    lambda: int("9" * 5000),
    lambda: math.log(0),
    lambda: 1 % 0,
    lambda: int("z"),
    lambda: float("x"),
    lambda: round("a"),
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__)
