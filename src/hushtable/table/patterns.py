"""Strings in free text that identify a person by their form alone: addresses, numbers of phones, cards and accounts.

A scanner of forms knows no names: a text without a match is not anonymous. It reads a text in time linear in its length, every
repetition is bounded or starts where no other can, and one hundred thousand characters of any kind are no obstacle.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Pattern(StrEnum):
    """What a match is, those that are surest first: where two overlap, the first stays."""

    MAIL = "mail"
    URL = "url"
    IBAN = "iban"
    CARD = "card"
    PHONE = "phone"
    DIGITS = "digits"


LONG = 7
"""Digits in a row that identify something; fewer are amounts, years and codes."""
SUFFIX = 9
"""Phone numbers agree if so many last digits do: country and trunk prefixes are written or left out."""


@dataclass(frozen=True, slots=True)
class Match:
    """A string of a text that has the form of an identifier."""

    kind: Pattern
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """What two spellings of one identifier have in common; of phone numbers and digits the last ``SUFFIX``."""
        if self.kind is Pattern.MAIL:
            return self.text.casefold()
        if self.kind is Pattern.URL:
            return re.sub(r"^(?:\w{3,5}://)?(?:www\.)?", "", self.text.casefold()).rstrip("/")
        if self.kind is Pattern.IBAN:
            return _joined(self.text).upper()
        digits = _digits(self.text)
        return digits if self.kind is Pattern.CARD else digits[-SUFFIX:]


def scan(text: str) -> list[Match]:
    """All matches of a text in order; none overlaps another."""
    found: list[Match] = []
    # Six characters hold no identifier, and most texts have neither an address nor many digits.
    if len(text) < 6:
        return found
    numbers = sum(map(text.count, "0123456789")) >= LONG or not text.isascii()
    if "@" in text:
        for mail in _MAILS:
            _keep(found, (_match(Pattern.MAIL, m.start(), m.end(), text) for m in mail.finditer(text)))
    if "." in text or "://" in text:
        _keep(found, _urls(text))
    if numbers:
        _keep(found, _ibans(text))
        _keep(found, _cards(text))
        _keep(found, _phones(text))
        _keep(found, _runs(text))
    return sorted(found, key=lambda match: match.start)


def scan_all(texts: Iterable[str | None]) -> list[list[Match]]:
    """The matches of each text, none where it is missing; what stands twice is scanned once."""
    known: dict[str, list[Match]] = {}
    scanned: list[list[Match]] = []
    for text in texts:
        if text is None:
            scanned.append([])
            continue
        if text not in known:
            known[text] = scan(text)
        scanned.append(known[text])
    return scanned


def luhn(digits: str) -> bool:
    """Whether the check digit of a card number is right (Luhn 1960)."""
    doubled = [2 * int(digit) for digit in digits[-2::-2]]
    return (sum(int(digit) for digit in digits[::-2]) + sum(value - 9 * (value > 9) for value in doubled)) % 10 == 0


def mod97(iban: str) -> bool:
    """Whether the check digits of an account number are right (ISO 13616), without spaces."""
    return int("".join(str(int(letter, 36)) for letter in iban[4:] + iban[:4])) % 97 == 1


# An address in ASCII ends where letters of another script begin; only then may an address be in that script.
_MAILS = tuple(
    re.compile(rf"(?<![{w}.%+-])[{w}.%+-]{{1,64}}@(?:[{w}-]{{1,63}}\.){{1,8}}(?:xn--[{w}-]{{2,59}}|{letter}{{2,24}})(?![{w}-])")
    for w, letter in (("A-Za-z0-9_", "[A-Za-z]"), (r"\w", r"[^\W\d_]"))
)
# Endings that are no words of a sentence: "in", "it", "me" and others would find every missing space after a full stop.
_ENDINGS = "com|org|net|edu|gov|info|biz|io|eu|de|uk|fr|nl|ch|ru|jp|cn|br|au|ca|pl|se|dk|fi|cz"
_URL = re.compile(
    r"(?:(?<![A-Za-z0-9])(?:https?|ftp)://|(?<![\w@.-])www\.(?=[^\W_]))[^\s<>\"'`{}|\\^。、，）」』】》]{1,2048}"
    rf"|(?<![\w@./-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?\.){{1,5}}(?:{_ENDINGS})(?![\w@-])"
    r"(?:/[^\s<>\"'`{}|\\^]{0,2048})?",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?)]'\"*_~"
_IBAN = re.compile(r"(?<![^\W_])(?=([A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}))")
_LENGTHS = {
    entry[:2]: int(entry[2:])
    for entry in re.findall(
        r"\S+",
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 "
        "FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 "
        "LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 "
        "SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30",
    )
}
_GROUPS = re.compile(r"(?<!\d)\d+(?:[ -]\d+)*")
_GROUP = re.compile(r"\d+")
_GROUPINGS = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 1), (6, 13), (8, 8)})
_MORE = r"(?:[ ./-]\d{2,12}){0,5}"
_PHONES = tuple(
    re.compile(pattern)
    for pattern in (
        # With the country, after + or 00; a trunk zero may stand in parentheses.
        rf"(?<![\w+])(?:\+|00)[1-9]\d{{0,13}}(?: \d(?=[ ./-]\d\d))?(?:[ ./-]?\(\d{{1,5}}\)[ ./-]?\d{{2,12}})?{_MORE}(?!\w)",
        # Within a country, after the trunk zero.
        rf"(?<![\w.,+:/#-])(?:\(0\d{{1,5}}\)[ ./-]?\d{{2,12}}|0[1-9]\d{{0,11}}){_MORE}(?!\w)",
        # North America: three, three and four digits, with something between them.
        r"(?<![\w.,+:/#-])(?:1[ .-])?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?!\w)",
    )
)
_DATE = re.compile(r"(?:\d{1,2}([./ -])\d{1,2}\1(?:19|20)?\d{2}|(?:19|20)\d{2}([./ -])\d{1,2}\2\d{1,2})(?!\d)")
_RUN = re.compile(rf"(?<!\d[.,])(?<!\d)\d{{{LONG},}}")


def _match(kind: Pattern, start: int, end: int, text: str) -> Match:
    return Match(kind, start, end, text[start:end])


def _keep(found: list[Match], more: Iterable[Match]) -> None:
    """Add those that overlap nothing that is found already; both are read in order once."""
    taken = sorted((match.start, match.end) for match in found)
    at = 0
    for match in more:
        while at < len(taken) and taken[at][1] <= match.start:
            at += 1
        if at == len(taken) or taken[at][0] >= match.end:
            found.append(match)


def _urls(text: str) -> Iterator[Match]:
    for match in _URL.finditer(text):
        end = match.start() + len(match.group().rstrip(_TRAILING))
        yield _match(Pattern.URL, match.start(), end, text)


def _ibans(text: str) -> Iterator[Match]:
    """Numbers of accounts: as long as the country says, with the right check digits, and nothing joined to them."""
    last = 0
    for match in _IBAN.finditer(text):
        needed = _LENGTHS.get(match[1][:2].upper(), 0)
        start = end = match.start()
        if start < last or not needed:
            continue
        for letter in match[1]:
            end += 1
            needed -= letter not in " -"
            if not needed:
                break
        if not needed and not text[end : end + 1].isalnum() and mod97(_joined(text[start:end])):
            last = end
            yield _match(Pattern.IBAN, start, end, text)


def _cards(text: str) -> Iterator[Match]:
    """Numbers of cards: in one piece or grouped as on a card, with a first digit in use and the right check digit."""
    for match in _GROUPS.finditer(text):
        if sum(part.isdecimal() for part in match.group()[:40]) < 13:
            continue
        groups = [(m.start(), m.end()) for m in _GROUP.finditer(text, match.start(), match.end())]
        at = 0
        while at < len(groups):
            taken = next((size for size in (1, 5, 4, 3, 2) if _card(text, groups[at : at + size], size)), 0)
            if taken:
                yield _match(Pattern.CARD, groups[at][0], groups[at + taken - 1][1], text)
            at += taken or 1


def _card(text: str, groups: list[tuple[int, int]], size: int) -> bool:
    lengths = tuple(end - start for start, end in groups)
    if len(groups) < size or (lengths not in _GROUPINGS if size > 1 else not 13 <= lengths[0] <= 19):
        return False
    digits = _digits(text[groups[0][0] : groups[-1][1]])
    return digits[0] in "23456" and luhn(digits)


def _phones(text: str) -> Iterator[Match]:
    """Numbers of phones; a date, a number with too few or too many digits, and one of zeros only are none."""
    found = []
    for place, phone in enumerate(_PHONES):
        for match in phone.finditer(text):
            digits = _digits(match.group())
            least, most = ((8, 17), (9, 13), (10, 11))[place]
            if least <= len(digits) <= most and not _DATE.match(match.group()) and len(set(digits)) > 1:
                found.append(_match(Pattern.PHONE, match.start(), match.end(), text))
    last = 0
    for one in sorted(found, key=lambda match: (match.start, -match.end)):
        if one.start >= last:
            last = one.end
            yield one


def _runs(text: str) -> Iterator[Match]:
    """Long runs of digits that are no fraction and no round number."""
    for match in _RUN.finditer(text):
        if len(_digits(match.group()).rstrip("0")) > 2:
            yield _match(Pattern.DIGITS, match.start(), match.end(), text)


def _digits(text: str) -> str:
    """The digits of a text, those of other scripts as ours."""
    if text.isascii():
        return re.sub(r"\D", "", text)
    return "".join(str(unicodedata.decimal(letter)) for letter in text if letter.isdecimal())


def _joined(text: str) -> str:
    return text.replace(" ", "").replace("-", "")
