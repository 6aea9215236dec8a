"""Areas of shapes.

>>> area(2, 3)
6
>>> area(-1, 2)
Traceback (most recent call last):
    ...
ValueError: negative
>>> sorted({"b": 1, "a": 2})  # doctest: +NORMALIZE_WHITESPACE
['a',   'b']
>>> print("x" * 40)  # doctest: +ELLIPSIS
xxx...x
"""


def area(w, h):
    """Return the area.

    >>> area(1, 1)
    1
    """
    if w < 0 or h < 0:
        raise ValueError("negative")
    return w * h


if __name__ == "__main__":
    import doctest
    import sys

    result = doctest.testmod()
    print(result)
    sys.exit(result.failed)
