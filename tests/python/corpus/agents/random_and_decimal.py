import decimal, fractions, statistics, random, math, cmath, heapq, bisect, array

random.seed(42)
print(random.random(), random.sample(range(100), 5), random.choice("abc"), random.gauss(0, 1))
print(
    decimal.Decimal("1.1") + decimal.Decimal("2.2"),
    fractions.Fraction(1, 3) + 1,
    statistics.stdev([1, 2, 3, 4]),
    math.comb(50, 25),
    math.isclose(0.1 + 0.2, 0.3),
    2**100,
    divmod(-7, 3),
    round(2.5),
    1e16,
    float("nan"),
    0.1 + 0.2,
    10**20 // 3,
)
h = [3, 1, 2]
heapq.heapify(h)
print(heapq.heappop(h), bisect.bisect([1, 2, 3], 2), array.array("i", [1, 2]).tobytes())
