"""A saved release held against its own card: its files, its rows, its ledger, its recipe, its signature."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hushtable.engine.compute import Compute
from hushtable.errors import Fault, InputError
from hushtable.pipeline.card import exposed
from hushtable.pipeline.compared import left_on
from hushtable.pipeline.foreseen import verify_plan
from hushtable.pipeline.recipe import described, step_names
from hushtable.pipeline.release import (
    DATA,
    DATA_FOLDER,
    PAGES,
    PART,
    RECIPE,
    SCHEMA,
    code_files,
    data_names,
    file_hash,
    installed_versions,
    level_files,
    load_card,
    load_rows,
    part_name,
)
from hushtable.pipeline.signature import SIGNATURE, Authorship, authorship
from hushtable.pipeline.untouched import Untouched
from hushtable.pipeline.verification import Unchecked, Verification, later, worded
from hushtable.privacy import criteria, pld
from hushtable.privacy.criteria import Counted, Grouped
from hushtable.privacy.guarantee import Guarantee
from hushtable.privacy.ledger import Ledger
from hushtable.privacy.preserve import Form, unmet
from hushtable.table import lenient
from hushtable.table.disk import CARD, read_text
from hushtable.table.hierarchy import FileTree
from hushtable.table.rows import Rows
from hushtable.table.schema import Schema

_ALLOWED = re.compile(
    "|".join([*map(re.escape, (*DATA, SCHEMA, RECIPE, *PAGES)), r"(hierarchies|levels|codes)/\d{2,}\.csv", PART.pattern])
)
"""The names of the files that a release may have beside its card."""
SAYS_UNTOUCHED = "0.3.0"
"""From this version on every card says which columns left unchanged."""
LISTS = ("hierarchies/", "levels/", "codes/")
"""The folders of a release that belong to its schema."""
_ON_TRUST = ("dropped", "copies", "result", "versions", "date")
_ABOUT = {"data_title": "title", "contact": "contact", "licence": "licence", "purpose": "purpose"}
"""What a card says of its data, and what the schema beside it calls the same."""
_ENTRIES = (
    *(*_ABOUT, "recipe", "title", "cite", "steps", "rows", "columns", "guarantee", "explanation", "hashes", "untouched"),
    *_ON_TRUST,
)


def verify(
    folder: str | Path, key: str | Path | None = None, *, trust: bool = False, compute: Compute | None = None
) -> Verification:
    """Whether a saved release is what its card says, and what of that could not be checked.

    The files are those that were released and no others; the card's guarantee is the one that its own ledger and promises give,
    and one that its recipe can lead to; what can be measured on the table is measured again. Who made the card is known only by
    its signature: ``key`` is the file of the public key that it must be made with. Steps of other packages are planned, and their
    code run, only with ``trust``. ``compute`` says where the rows of a release in parts are worked on.
    """
    return verify_and_load(folder, key, trust=trust, compute=compute)[0]


def verify_and_load(
    folder: str | Path, key: str | Path | None = None, *, trust: bool = False, compute: Compute | None = None
) -> tuple[Verification, Rows | None]:
    """``verify``, and the rows that it read; None where its files are not those that were released."""
    folder = Path(folder)
    card = load_card(folder)
    guarantee = read_guarantee(card, str(folder))
    verification = Verification(tuple(verify_files(folder, card))) + _verify_signature(folder, key)
    if any(fault.where.startswith(("data.", f"{DATA_FOLDER}/", SCHEMA, RECIPE, *LISTS)) for fault in verification.faults):
        return verification, None
    rows = load_rows(folder, compute)
    verification += verify_card(card, guarantee, read_text(folder / RECIPE, RECIPE), rows.schema, trust=trust, table=rows)
    verification += Verification((*_verify_shape(rows, card), *_verify_measured(rows, guarantee)))
    verification += _verify_untouched(rows, card, guarantee)
    verification += Verification(unchecked=tuple(_not_in_the_file(guarantee)), assumed=tuple(_taken_on_trust(card, guarantee)))
    return verification, rows


def read_guarantee(card: Mapping[str, Any], where: str) -> Guarantee:
    """The guarantee of a card; InputError where it, or its explanation, is none."""
    try:
        dict(card["explanation"])
        return Guarantee.from_json(dict(card["guarantee"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"card.json is damaged: {type(error).__name__}: {error}", where=where) from None


def verify_card(
    card: Mapping[str, Any], guarantee: Guarantee, recipe: str, schema: Schema, *, trust: bool = False, table: Rows | None = None
) -> Verification:
    """Whether a card agrees with itself, and with the text of its recipe planned on the schema of the released columns.

    Sentences are compared with those of this version and of all before it. A later version may say the same in other words: then
    they are not checkable, unless there are fewer of them than the guarantee needs.
    """
    reworded = later(str(dict(card.get("versions") or {}).get("hushtable")), installed_versions()["hushtable"])
    verification = Verification((*_verify_entries(card, guarantee), *_verify_about(card, schema)))
    verification += Verification(tuple(_verify_recipe(recipe, card)))
    verification += verify_plan(recipe, schema, guarantee, trust=trust, reworded=reworded, table=table)
    return verification + _verify_words(guarantee, card, reworded=reworded)


def is_release_file(name: str) -> bool:
    """Whether a release may have a file of this name."""
    return name in (CARD, SIGNATURE) or _ALLOWED.fullmatch(name) is not None


def verify_files(folder: Path, card: Mapping[str, Any]) -> list[Fault]:
    """Files that are not those that were released, or are missing, or were not released."""
    try:
        hashes = {str(name): str(digest) for name, digest in card["hashes"].items()}
    except AttributeError:
        raise InputError("card.json is damaged: its hashes are no mapping", where=str(folder)) from None
    paths = sorted(folder.rglob("*"))
    # A link leads out of the folder, to what was not released or can be exchanged.
    faults = [
        Fault(p.relative_to(folder).as_posix(), "is a link: a release holds its files itself") for p in paths if p.is_symlink()
    ]
    here = {p.relative_to(folder).as_posix() for p in paths if p.is_file()} - {CARD, SIGNATURE}
    faults += [Fault(name, "the file is not on the card: it was not released") for name in sorted(here - set(hashes))]
    faults += [Fault(name, "is no file that a release has") for name in hashes if not _ALLOWED.fullmatch(name)]
    faults += _verify_data(data_names(hashes))
    for name in dict.fromkeys((*hashes, SCHEMA, RECIPE)):
        if name not in here:
            faults.append(Fault(name, "the file is missing"))
        elif name in hashes and file_hash(folder / name) != hashes[name]:
            faults.append(Fault(name, "the file is not the one that was released: its hash differs from the card's"))
    return faults


def _verify_data(names: list[str]) -> list[Fault]:
    """The rows are in one file, or in parts that are numbered without a gap."""
    if len(names) == 1 and names[0] in DATA:
        return []
    forms = {name.partition(".")[2] for name in names}
    if len(forms) == 1 and names == [f"{DATA_FOLDER}/{part_name(number, *forms)}" for number in range(len(names))]:
        return []
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return [Fault("data.", f"a release has one data file, or parts from 0 on; on the card are {shown or 'none'}")]


def _verify_signature(folder: Path, key: str | Path | None) -> Verification:
    """With a key, anything but its signature on this card is a fault; without one, nobody is known to have made it."""
    if key is not None:
        author = authorship(folder, key)
        return Verification(() if author is Authorship.VALID else (Fault(SIGNATURE, f"the card is {author}"),))
    signed = (folder / SIGNATURE).is_file()
    why = "give the public key of whom you trust (--key) to see whether it is theirs" if signed else "the card is not signed"
    return Verification(assumed=(Unchecked("author", why),))


def _verify_shape(table: Rows, card: Mapping[str, Any]) -> Iterator[Fault]:
    if table.rows != card["rows"]:
        yield Fault("rows", f"the card says {card['rows']}, the data has {table.rows}")
    if list(table.schema.names) != card.get("columns"):
        yield Fault("columns", "the card names other columns than the data has")
    named = {column.hierarchy.path for column in table.schema if isinstance(column.hierarchy, FileTree)}
    for name in card["hashes"]:
        if name.startswith("hierarchies/") and name not in named:
            yield Fault(name, "is a hierarchy of no column")
        if name.startswith("levels/") and name not in level_files(table.schema).values():
            yield Fault(name, "holds the levels of no column")
        if name.startswith("codes/") and name not in code_files(table.schema).values():
            yield Fault(name, "holds the code list of no column")


def _verify_entries(card: Mapping[str, Any], guarantee: Guarantee) -> Iterator[Fault]:
    """Entries that no card has: nobody checks them, and somebody may believe them."""
    yield from (Fault(name, "no card has such an entry") for name in card if name not in _ENTRIES)
    # What was measured, and each entry of the ledger, is compared entry by entry elsewhere.
    known = {name: value for name, value in guarantee.to_json().items() if name not in ("criteria", "ledger")}
    stated = {name: value for name, value in card["guarantee"].items() if name not in ("criteria", "ledger")}
    yield from (Fault(name, "no guarantee has such an entry") for name in _unknown(known, stated))


def _verify_about(card: Mapping[str, Any], schema: Schema) -> Iterator[Fault]:
    """The name of the data, the contact, the licence and the purpose must be those of the schema; the date is one."""
    for entry, name in _ABOUT.items():
        if card.get(entry, "") != getattr(schema, name):
            yield Fault(entry, f"the card says {card.get(entry, '')!r}, the schema {getattr(schema, name)!r}")
    date = card.get("date", "")
    if date and not (isinstance(date, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", date)):
        yield Fault("date", f"expected a day such as 2026-11-17, got {date!r}")


def _unknown(known: object, stated: object) -> Iterator[str]:
    """Keys of nested mappings that are not known."""
    if isinstance(known, Mapping) and isinstance(stated, Mapping):
        yield from (str(name) for name in stated if name not in known)
        for name in known:
            yield from _unknown(known[name], stated.get(name))
    elif isinstance(known, list) and isinstance(stated, list):
        for one, two in zip(known, stated, strict=False):
            yield from _unknown(one, two)


def _verify_recipe(text: str, card: Mapping[str, Any]) -> Iterator[Fault]:
    """What the card says of its recipe, against the recipe."""
    for name, words in described(text, RECIPE).items():
        if card.get(name) != words:
            yield Fault(name, f"the card says {card.get(name)!r}, the recipe {words!r}")
    if list(names := step_names(text, RECIPE)) != card.get("steps"):
        yield Fault("steps", f"the card says {card.get('steps')}, the recipe has {', '.join(names)}")


def _verify_measured(table: Rows, guarantee: Guarantee) -> list[Fault]:
    """k, l and t, and every promise about the table itself, measured again on all its rows together."""
    grouped = Grouped(table)
    stated = dict(guarantee.criteria)
    # Which rows belong to one person is not released: of what was counted by persons, the part by rows is measured again.
    by_rows = {"counted": str(Counted.ROWS), **stated.get("by_rows", stated)} if stated else {}
    named = {name for p in guarantee.promises for name in (*p.quasi, *([p.secret] if p.secret else []))}
    named |= {str(name) for name in (*stated.get("quasi", ()), *stated.get("secrets", ()))}
    strange = sorted(named - set(table.schema.names))
    if strange:
        return [Fault("criteria", f"the card speaks of {', '.join(strange)}, which the data has not")]
    faults = []
    if stated:
        measured = criteria.measure(grouped, stated.get("quasi", ()), stated.get("secrets", {}))
        for name, now, then in _differences(measured, by_rows):
            faults.append(Fault(f"criteria: {name}", f"the card says {then}, the data has {now}"))
        if stated.get("k", 0) > measured["k"]:
            faults.append(
                Fault("criteria: k", f"the card says {stated['k']} persons, where the data has no more than {measured['k']} rows")
            )
    promises = [promise for promise in guarantee.promises if promise.form is Form.SYNTACTIC]
    whys = [unmet(promise, grouped) if table.rows else f"{promise} is said of no rows" for promise in promises]
    return faults + [Fault("promise", why) for why in whys if why]


def _verify_untouched(table: Rows, card: Mapping[str, Any], guarantee: Guarantee) -> Verification:
    """How many rows are alone on the columns that left unchanged, measured again; what they give away stands beside every ok."""
    # A budget paid for every look: nothing was compared with the rows, and nothing of the kind can stand on the card.
    compared = bool(Ledger(guarantee.ledger).culprits)
    if not compared and (card.get("copies") or lenient.mapping(card.get("untouched")).get("columns")):
        return Verification((Fault("untouched, copies", "a release that a budget paid for is not compared with the rows"),))
    if "untouched" not in card:
        version = str(dict(card.get("versions") or {}).get("hushtable"))
        if compared and (version == SAYS_UNTOUCHED or later(version, SAYS_UNTOUCHED)):
            return Verification((Fault("untouched", f"the card does not say which columns left unchanged, as {version} does"),))
        why = f"which columns left unchanged, which cards before {SAYS_UNTOUCHED} do not say"
        return Verification(assumed=(Unchecked("untouched", why),)) if guarantee.promises else Verification()
    said = Untouched.from_json(card["untouched"])
    if strange := sorted(set(said.columns) - set(table.schema.names)):
        return Verification((Fault("untouched", f"the card speaks of {', '.join(strange)}, which the data has not"),))
    now = left_on(table, said.columns)
    faults = []
    if not math.isclose(now.alone, said.alone, rel_tol=1e-9, abs_tol=1e-12):
        faults.append(Fault("untouched", f"the card says that {said.alone:g} of the rows are alone, in the data {now.alone:g} are"))
    return Verification(tuple(faults), exposed=exposed(now, lenient.mapping(card.get("copies")), guarantee.promises))


def _differences(measured: dict[str, Any], stated: dict[str, Any], within: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two nested mappings differ: name, measured, stated; numbers up to rounding."""
    for name in dict.fromkeys((*measured, *stated)):
        now, then, label = measured.get(name), stated.get(name), f"{name}{within}"
        if isinstance(now, dict) and isinstance(then, dict):
            yield from _differences(now, then, f" of {name}" if name != "secrets" else "")
        elif isinstance(now, float) and isinstance(then, (int, float)):
            if not math.isclose(now, then, rel_tol=1e-9, abs_tol=1e-12):
                yield label, now, then
        elif (list(now) if isinstance(now, tuple) else now) != then:
            yield label, now, then


def _verify_words(guarantee: Guarantee, card: Mapping[str, Any], *, reworded: bool) -> Verification:
    """Whether the card says of itself what its own ledger, promises and claims give."""
    now, stated = guarantee.to_json(), card["guarantee"]
    faults = [
        Fault(name, f"the card says {stated.get(name)}, its ledger and promises give {now[name]}")
        for name in ("assurance", "rho", "not_private", "public", "caveats")
        if not _near(now[name], stated.get(name))
    ]
    if (guarantee.factor == 1 or pld.available()) and not _near(now.get("spent"), stated.get("spent")):
        faults.append(
            Fault("ledger", f"the card says that {stated.get('spent')} was spent, the ledger adds up to {now.get('spent')}")
        )
    verification = Verification(tuple(faults)) + _verify_epsilon(guarantee, stated)
    said = stated.get("epsilon")
    # Another accountant would have given other digits: those of the card, if nothing is wrong with them.
    sentences = guarantee.sentences(float(said) if isinstance(said, (int, float)) else None)
    explanation = [tuple(pair) for pair in card["explanation"]]
    if verification.faults or explanation == sentences:
        return verification
    reworded = reworded and len(explanation) >= len(sentences)
    return verification + worded([Fault("explanation", "the card explains another guarantee than it gives")], reworded=reworded)


def _verify_epsilon(guarantee: Guarantee, stated: Mapping[str, Any]) -> Verification:
    """Whether the card's epsilon is what the ledger adds up to, by the accountant that the card names."""
    said, own = stated.get("epsilon"), guarantee.epsilon()
    if not math.isfinite(own):
        return _agrees("infinity", said)
    # A bound that was fixed beforehand is the same for every accountant, unless it is the one that fixed it.
    if guarantee.bound is not None and (guarantee.factor == 1 or pld.available()):
        return _agrees(own, said)
    closed = own if guarantee.bound is not None else Ledger(guarantee.ledger).epsilon(guarantee.delta)
    if stated.get("accountant") == "pld" and pld.available():
        # On a coarser grid, as earlier versions had one, the accountant says a little more than it does here, and never less.
        coarser = isinstance(said, (int, float)) and own <= said <= closed
        return Verification() if coarser else _agrees(own, said)
    if stated.get("accountant") != "pld" or _near(closed, said):
        return _agrees(closed, said)
    # The closed form can only be larger than what the numerical accountant found.
    if not (isinstance(said, (int, float)) and 0 < said <= closed):
        return Verification((Fault("epsilon", f"the card says {said}, the ledger adds up to at most {closed}"),))
    why = (
        f"{said:g} by the numerical accountant is not checkable without the extra dp (pip install 'hushtable[dp]'); "
        f"by closed forms the ledger adds up to at most {closed:g}"
    )
    return Verification(unchecked=(Unchecked("epsilon", why),))


def _agrees(computed: object, said: object) -> Verification:
    return Verification(
        () if _near(computed, said) else (Fault("epsilon", f"the card says {said}, the ledger adds up to {computed}"),)
    )


def _near(value: object, stated: object) -> bool:
    """Whether two values are the same; numbers up to the accountant's own grid."""
    if isinstance(value, float) and isinstance(stated, (int, float)):
        return math.isclose(value, stated, rel_tol=1e-6)
    return value == stated


def _not_in_the_file(guarantee: Guarantee) -> Iterator[Unchecked]:
    """Promises that the released table cannot show to anybody."""
    for promise in guarantee.promises:
        if promise.form is Form.DERIVED:
            yield Unchecked("promise", f"{promise} is of the table that this one was made from, which the file cannot show")
        elif guarantee.unit.by is not None or promise.counted is Counted.PERSONS:
            yield Unchecked("promise", f"{promise}: it counts persons, and who holds which rows is not in the file")


def _taken_on_trust(card: Mapping[str, Any], guarantee: Guarantee) -> Iterator[Unchecked]:
    """What a card says that no folder could show."""
    if math.isfinite(guarantee.epsilon()):
        yield Unchecked(
            "ledger", "that the rows were read in no other way, and that each answer had fresh noise, as wide as it says"
        )
        if guarantee.unit.rows > 1 or guarantee.unit.by is not None:
            yield Unchecked("unit", f"that nobody holds more than {guarantee.unit.rows} of the rows that were read")
    if guarantee.promises or math.isfinite(guarantee.epsilon()):
        yield Unchecked(SCHEMA, "that what it declares is public, and that its roles name what others may know")
    if "untouched" in card and Ledger(guarantee.ledger).culprits:
        reason = "" if card.get("copies") else ", and that not many of its rows are rows of real people"
        why = f"that no {'other ' if lenient.mapping(card['untouched']).get('columns') else ''}column left unchanged{reason}"
        yield Unchecked("untouched", f"{why}: only the rows it was made of could show that")
    if guarantee.claims:
        yield Unchecked("claims", "what a publication states, with the gaps that the card names, is no guarantee")
    if said := [name for name in _ON_TRUST if card.get(name)]:
        yield Unchecked(", ".join(said), "what was left out, what the steps found, what they ran with and when, as the card says")
    if pages := sorted(
        name for name in card["hashes"] if name.endswith((".html", ".csv")) and not name.startswith(("data.", "levels/", "codes/"))
    ):
        yield Unchecked(", ".join(pages), "compared by hash alone; what was checked is card.json")
