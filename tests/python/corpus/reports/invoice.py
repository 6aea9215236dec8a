from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
import json
import sys
import textwrap


@dataclass(order=True, frozen=True)
class Item:
    name: str
    price: Decimal
    count: int = 1

    @property
    def total(self) -> Decimal:
        return (self.price * self.count).quantize(Decimal("0.01"), ROUND_HALF_EVEN)

    @classmethod
    def parse(cls, d: dict) -> "Item":
        return cls(d["name"], Decimal(str(d["price"])), int(d.get("count", 1)))


items = sorted(Item.parse(d) for d in json.load(sys.stdin))
net = sum((i.total for i in items), Decimal(0))
for item in items:
    lines = textwrap.wrap(item.name, 24, break_long_words=False)
    print(f"{lines[0]:<24}{item.count:>4} × {item.price:>9,}{item.total:>12,}")
    for line in lines[1:]:
        print(textwrap.indent(line, "  "))
print(
    f"{'net':<24}{net:>27,}\n{'VAT 19 %':<24}{(net * Decimal('0.19')).quantize(Decimal('0.01')):>27,}"
)
print(items[0])
