"""The scanner of identifiers in free text: what it finds, what it must not take for one, and that it is linear."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from hushtable.table.patterns import LONG, Match, Pattern, luhn, mod97, scan, scan_all

FOUND = {
    "write to Ann.Lee+x@mail.example.co.uk.": [(Pattern.MAIL, "Ann.Lee+x@mail.example.co.uk")],
    "почта: иван@пример.рф!": [(Pattern.MAIL, "иван@пример.рф")],
    "联系bob@example.com谢谢": [(Pattern.MAIL, "bob@example.com")],
    "see https://example.org/a?b=1#c, then": [(Pattern.URL, "https://example.org/a?b=1#c")],
    "(www.example.net)": [(Pattern.URL, "www.example.net")],
    "at shop.example.com/x/y today": [(Pattern.URL, "shop.example.com/x/y")],
    "IBAN DE89 3704 0044 0532 0130 00 THANKS": [(Pattern.IBAN, "DE89 3704 0044 0532 0130 00")],
    "gb82west12345698765432": [(Pattern.IBAN, "gb82west12345698765432")],
    "card 4111 1111 1111 1111 12/25": [(Pattern.CARD, "4111 1111 1111 1111")],
    "card 378282246310005.": [(Pattern.CARD, "378282246310005")],
    "3782-822463-10005": [(Pattern.CARD, "3782-822463-10005")],
    "call +44 7911 123456 now": [(Pattern.PHONE, "+44 7911 123456")],
    "+49 (0)30 123 45 67": [(Pattern.PHONE, "+49 (0)30 123 45 67")],
    "ring 08452810075 now": [(Pattern.PHONE, "08452810075")],
    "(0123) 456 7890": [(Pattern.PHONE, "(0123) 456 7890")],
    "(212) 555-1234, 212.555.9876": [(Pattern.PHONE, "(212) 555-1234"), (Pattern.PHONE, "212.555.9876")],
    "file 7654321 closed": [(Pattern.DIGITS, "7654321")],
    "رقم ١٢٣٤٥٦٧٨٩": [(Pattern.DIGITS, "١٢٣٤٥٦٧٨٩")],
    "📱+33 6 12 34 56 78📱": [(Pattern.PHONE, "+33 6 12 34 56 78")],
    "passport AB1234567": [(Pattern.DIGITS, "1234567")],
    "a@b.com http://c.org 07911 123456": [
        (Pattern.MAIL, "a@b.com"),
        (Pattern.URL, "http://c.org"),
        (Pattern.PHONE, "07911 123456"),
    ],
}
NONE = [
    "",
    "a",
    "@",
    "me @ home.at five",
    "on 2024-01-15 at 10:30, or 15.01.2024 10 00",
    "01/02/2024 10:30",
    "pi is 3.14159265358979",
    "it cost 1,250,000 or 1000000 in all",
    "in 1999-2004 and 10 000 000 people",
    "192.168.100.200",
    "the end.It was",
    "4111 1111 1111 1112",
    "0000 0000 0000 0000",
    "DE88 3704 1044 0532 is wrong",
    "room 123456",
    "+12 and 00 7",
]


@pytest.mark.parametrize(("text", "matches"), FOUND.items())
def test_what_has_the_form_of_an_identifier_is_found_where_it_stands(text, matches):
    found = scan(text)
    assert [(match.kind, match.text) for match in found] == matches
    assert all(text[match.start : match.end] == match.text for match in found)


@pytest.mark.parametrize("text", NONE)
def test_dates_amounts_fractions_and_wrong_check_digits_are_no_identifiers(text):
    assert scan(text) == []


def test_an_account_with_a_wrong_check_digit_is_none():
    assert Pattern.IBAN not in {match.kind for match in scan("DE88 3704 0044 0532 0130 00")}
    assert Pattern.CARD not in {match.kind for match in scan("4111111111111112")}


def test_a_check_digit_rejects_every_change_of_one_digit():
    card, iban = "4111111111111111", "DE89370400440532013000"
    assert luhn(card)
    assert mod97(iban)
    for at in range(len(card)):
        assert sum(luhn(card[:at] + digit + card[at + 1 :]) for digit in "0123456789") == 1
    for at in range(4, len(iban)):
        assert sum(mod97(iban[:at] + digit + iban[at + 1 :]) for digit in "0123456789") == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("call +44 7911 123456", "call 07911-123456"),
        ("Ann@Example.org", "ann@example.org"),
        ("https://www.example.org/", "http://example.org"),
        ("DE89 3704 0044 0532 0130 00", "de89370400440532013000"),
        ("4111-1111-1111-1111", "4111111111111111"),
        ("(212) 555-1234", "+12125551234"),
    ],
)
def test_two_spellings_of_one_identifier_have_one_key(one, other):
    assert scan(one)[0].key == scan(other)[0].key


def test_matches_are_in_order_and_never_overlap():
    text = " ".join(FOUND)
    found = scan(text)
    assert len(found) >= 15
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert scan_all([None, text, "", text]) == [[], found, [], found]


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "1 ",
        "a.",
        "a@",
        "@",
        "0",
        "+1 ",
        "(0",
        "www.",
        "http://",
        "DE89 ",
        "4111 ",
        "a-",
        "12-",
        "0123 456 ",
        "1.",
        "é",
        "٣",
        "😀",
    ],
)
def test_any_long_text_is_read_in_linear_time(piece):
    """A hundred thousand characters; quadratic time would take minutes."""
    text = (piece * 100_000)[:100_000]
    start = time.process_time()
    for form in (text, f"{text}!", f"x{text}"):
        scan(form)
    assert time.process_time() - start < 10


def test_matches_are_values():
    assert Match(Pattern.DIGITS, 0, LONG, "1234567") == scan("1234567")[0]
    assert scan("1234567")[0].key == "1234567"
