import bisect
import collections
import copy
import heapq
import itertools
import operator
import queue
import weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
from types import MappingProxyType, SimpleNamespace

c = Counter("mississippi")
print(
    c.most_common(2),
    c["z"],
    c + Counter("mmm"),
    c - Counter("ss"),
    c & Counter("sp"),
    c.total(),
    sorted(c.elements())[:3],
    +Counter(a=-1),
)
d = deque(range(5), maxlen=3)
d.appendleft(9)
d.rotate(1)
print(d, d.index(3), list(reversed(d)))
o = OrderedDict(a=1, b=2, c=3)
o.move_to_end("a")
print(
    o,
    o.popitem(last=False),
    ChainMap({"x": 1}, {"x": 2, "y": 3})["y"],
    dict(defaultdict(list, {1: [2]})),
    MappingProxyType({1: 2}),
)
h = [5, 1, 4]
heapq.heapify(h)
heapq.heappush(h, 0)
print(
    heapq.heappop(h),
    heapq.nlargest(2, h),
    heapq.nsmallest(1, h),
    list(heapq.merge([1, 4], [2, 3])),
    heapq.heappushpop(h, 7),
)
a = [1, 3, 3, 5]
print(
    bisect.bisect(a, 3),
    bisect.bisect_left(a, 3),
    bisect.insort(a, 4),
    a,
    bisect.bisect([("a", 1), ("b", 5)], 3, key=operator.itemgetter(1)),
)
print(
    list(itertools.product("ab", repeat=2))[:3],
    list(itertools.combinations("abc", 2)),
    list(itertools.permutations([1, 2])),
    list(itertools.accumulate([1, 2, 3], operator.mul)),
    list(itertools.chain.from_iterable([[1], [2]])),
)
print(
    list(itertools.pairwise("abc")),
    list(itertools.batched("abcde", 2)),
    list(itertools.zip_longest([1], "ab", fillvalue=0)),
    [(k, len(list(g))) for k, g in itertools.groupby("aabbb")],
    list(itertools.takewhile(lambda x: x < 3, [1, 5, 2])),
    list(itertools.compress("abc", [1, 0, 1])),
    list(itertools.starmap(pow, [(2, 3)])),
)
deep = {"a": [1, [2]], "n": SimpleNamespace(x=1)}
shallow, full = copy.copy(deep), copy.deepcopy(deep)
deep["a"][1].append(3)
print(shallow["a"], full["a"], full["n"], deep == shallow)
q = queue.PriorityQueue()
for item in ((2, "b"), (1, "a")):
    q.put(item)
print(q.get(), q.qsize(), q.get_nowait())
s = {1, 2, 3}
print(
    s | {4},
    s & {2, 9},
    s ^ {3, 4},
    s - {1},
    s <= {1, 2, 3, 4},
    s.isdisjoint({7}),
    {**{"k": 1}} | {"z": 2},
    [1, 2, 3].index(2),
    sum([[1], [2]], []),
)
l = [3, 1, 2]
l[1:1] = [9, 9]
del l[::2]
print(
    l,
    l.pop(),
    l.count(9),
    sorted(["10", "9"], key=int),
    list(enumerate("ab", 1)),
    any([]),
    all([]),
    max([], default=0),
    min("b", "a"),
)
for bad in (
    lambda: [].pop(),
    lambda: {}.popitem(),
    lambda: [1].remove(2),
    lambda: q.get_nowait(),
    lambda: (1, 2).index(9),
    lambda: max([]),
    lambda: [1] + (2,),
    lambda: list(itertools.batched("a", 0)),
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e)
