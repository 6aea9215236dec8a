"""Every row of the documents has a test, and the page that says which is up to date."""

from __future__ import annotations

from tests.record import requirements


def test_the_page_is_up_to_date() -> None:
    assert requirements.PAGE.read_text(encoding="utf-8") == requirements.page(), (
        "run tests/record/requirements.py"
    )


def test_every_row_has_a_test() -> None:
    rows = requirements.rows()
    missing = [
        f"{source}-{number}"
        for source, (_, count) in requirements.SOURCES.items()
        for number in range(1, count + 1)
        if f"{source}-{number}" not in rows and f"{source}-{number}" not in requirements.NO_TEST
    ]
    assert not missing
