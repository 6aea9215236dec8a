"""Arbitrary precision calculators: the numbers of bc and dc, bc's language and library, dc's
machine.
"""
