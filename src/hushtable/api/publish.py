"""The last steps of a release: what speaks against publishing it, what its card says of the data, and the zip that goes out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from hushtable.api.audit_report import AuditReport
from hushtable.api.report import read_audit
from hushtable.errors import Fault, GuaranteeRefused, InputError
from hushtable.evidence.verdict import Decision, Publish
from hushtable.evidence.verdict import publish as decide
from hushtable.pipeline.bundle import Bundle, pack
from hushtable.pipeline.card import Card
from hushtable.pipeline.release import SCHEMA, file_hash, load_card
from hushtable.pipeline.signature import SIGNATURE, SigningKey
from hushtable.pipeline.verify import is_release_file
from hushtable.pipeline.verify import verify as verify_folder
from hushtable.report.card import card_page
from hushtable.table.disk import CARD, read_text, whole_folder
from hushtable.table.entries import flow
from hushtable.table.schema import Schema

ABOUT = {"title": "data_title", "contact": "contact", "licence": "licence", "purpose": "purpose"}
"""What is said of the data, and what the card calls it."""
PAGE = "card.html"
_MADE = ("recipe", "steps", "rows", "columns", "date", "guarantee", "result")
"""What of a card says which release it is of, where the files are not known."""


class Item(StrEnum):
    """What is checked before a release goes out."""

    VERIFIED = "verified"
    """It is what its card says."""
    AUDITED = "audited"
    """It was attacked: this release, and no other."""
    COUNTS = "audit counts"
    """The audit is not void, and sure about who holds which rows."""
    GATES = "gates"
    """Every condition that was asked for holds."""
    DECISION = "decision"
    """The audit found no reason to withhold it; else somebody must give a reason."""
    ALONE = "no private file"
    """The folder holds what was released and nothing else."""
    UNCHANGED = "table unchanged"
    """The table that it was made from is the one that was audited still."""
    DESCRIBED = "described"
    """The card says what the data is called, whom to ask, its licence and what it is for."""


class State(StrEnum):
    """How an item stands."""

    HOLDS = "holds"
    FAILS = "fails"
    """It must be mended before anything is published."""
    OPEN = "open"
    """It is not known, or needs somebody who answers for it with a reason."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One item of the list."""

    item: Item
    state: State
    reasons: tuple[str, ...] = ()
    """What is wrong, or what is not known."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"item": str(self.item), "state": str(self.state), "reasons": list(self.reasons)}


@dataclass(frozen=True, kw_only=True)
class Checklist:
    """What speaks against publishing a release, item by item."""

    checks: tuple[Check, ...]
    decision: Decision | None
    """That of the audit; None without one."""

    def __getitem__(self, item: Item) -> Check:
        """How one item stands."""
        return next(check for check in self.checks if check.item is item)

    @property
    def refused(self) -> tuple[Check, ...]:
        """What must be mended before anything is published."""
        return tuple(check for check in self.checks if check.state is State.FAILS)

    @property
    def answerable(self) -> tuple[Check, ...]:
        """What somebody must answer for, with a name and a reason, where it is published all the same."""
        return tuple(check for check in self.checks if check.state is State.OPEN and check.item is not Item.DESCRIBED)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "checks": [check.to_json() for check in self.checks],
            "decision": None if self.decision is None else str(self.decision.answer),
        }


@dataclass(frozen=True, kw_only=True)
class Published:
    """A release that went out, and who answers for it."""

    bundle: Bundle
    checklist: Checklist
    by: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return self.bundle.to_json() | {"checklist": self.checklist.to_json(), "by": self.by, "reason": self.reason}


def checklist(
    folder: str | Path,
    *,
    audit: AuditReport | str | Path | None = None,
    source: tuple[str | Path, str] | None = None,
    key: str | Path | None = None,
    about: Mapping[str, str] | None = None,
) -> Checklist:
    """What speaks against publishing a saved release. Nothing is written.

    ``audit`` is the audit of it; ``source`` the file of the table it was made from, and the SHA-256 that it had then; ``key`` the
    public key that it must be signed with; ``about`` the title, contact, licence and purpose with which it is to be described anew
    before it is published.
    """
    folder = Path(folder)
    card = load_card(folder)
    report = audit if isinstance(audit, AuditReport) or audit is None else read_audit(audit)
    decision = None if report is None else decide(report.evidence)
    checks = (
        _verified(folder, key),
        *_audited(card, report, decision),
        _alone(folder),
        _unchanged(source),
        _described(card, about or {}),
    )
    return Checklist(checks=checks, decision=decision)


def publish(
    folder: str | Path,
    target: str | Path,
    *,
    audit: AuditReport | str | Path | None = None,
    source: tuple[str | Path, str] | None = None,
    key: str | Path | None = None,
    by: str = "",
    reason: str = "",
) -> Published:
    """Write a release as a new zip, once its checklist allows it; ``audit``, ``source`` and ``key`` as for ``checklist``.

    GuaranteeRefused where an item fails, or where one is open and nobody (``by``) answers for it with a ``reason``. Audits and what
    lies beside the release are never packed.
    """
    found = checklist(folder, audit=audit, source=source, key=key)
    if found.refused:
        raise GuaranteeRefused("nothing is published: " + "; ".join(_line(check) for check in found.refused))
    if found.answerable and not (by.strip() and reason.strip()):
        whys = "; ".join(_line(check) for check in found.answerable)
        raise GuaranteeRefused(f"{whys}. Who publishes it all the same gives a name and a reason: --by, --reason (by=, reason=)")
    return Published(bundle=pack(folder, target), checklist=found, by=by.strip(), reason=reason.strip())


def describe(
    folder: str | Path,
    target: str | Path,
    *,
    title: str = "",
    contact: str = "",
    licence: str = "",
    purpose: str = "",
    sign: SigningKey | str | Path | None = None,
) -> Path:
    """A release with what its card says of the data changed, in a new folder; what is empty stays as it is.

    Rows, recipe and guarantee are the same. A card that was signed is no longer the one that was: ``sign`` signs it anew.
    """
    folder, target = Path(folder), Path(target)
    if faults := verify_folder(folder).faults:
        raise InputError([*faults, Fault(str(folder), "is not what its card says, and is not described anew")])
    if sign is None and (folder / SIGNATURE).is_file():
        raise InputError("the card is signed: give the key to sign it anew", where=SIGNATURE)
    key = sign if sign is None or isinstance(sign, SigningKey) else SigningKey.load(sign)
    card, schema = load_card(folder), Schema.load(folder / SCHEMA)
    about = schema.described(title=title, contact=contact, licence=licence, purpose=purpose).about
    with whole_folder(target) as partial:
        for name in card["hashes"]:
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, partial / name)
        (partial / SCHEMA).write_text(_described_schema(read_text(folder / SCHEMA, SCHEMA), about), encoding="utf-8")
        told = {ABOUT[name]: text for name, text in about.items()}
        changed = {**told, **{name: value for name, value in card.items() if name not in (*ABOUT.values(), "hashes")}}
        if PAGE in card["hashes"]:
            (partial / PAGE).write_text(card_page(Card.from_json(changed)), encoding="utf-8")
        changed["hashes"] = {name: file_hash(partial / name) for name in card["hashes"]}
        (partial / CARD).write_text(json.dumps(changed, indent=1, ensure_ascii=False), encoding="utf-8")
        if key is not None:
            key.sign(partial)
    return target


def _described_schema(text: str, about: Mapping[str, str]) -> str:
    """The text of a schema with these entries in place of its own; all else stays as it is."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("columns:")), len(lines))
    head = [line for line in lines[:start] if line.partition(":")[0] not in ABOUT]
    return "\n".join([*(f"{name}: {flow(value)}" for name, value in about.items()), *head, *lines[start:]]) + "\n"


def _verified(folder: Path, key: str | Path | None) -> Check:
    found = verify_folder(folder, key)
    if found.faults:
        return Check(item=Item.VERIFIED, state=State.FAILS, reasons=tuple(map(str, found.faults)))
    return Check(item=Item.VERIFIED, state=State.OPEN if found.unchecked else State.HOLDS, reasons=tuple(map(str, found.unchecked)))


def _audited(card: Mapping[str, Any], report: AuditReport | None, decision: Decision | None) -> tuple[Check, ...]:
    items = (Item.AUDITED, Item.COUNTS, Item.GATES, Item.DECISION)
    if report is None or decision is None:
        return tuple(Check(item=item, state=State.OPEN, reasons=("there is no audit",)) for item in items)
    if report.card is None or not same_release(card, report.card.plain):
        why = "the audit is of another release" if report.card else "the audit does not say which release it is of"
        return tuple(Check(item=item, state=State.FAILS if report.card else State.OPEN, reasons=(why,)) for item in items)
    tested = decision.answer is not Publish.UNTESTED
    failed = tuple(f"{outcome.expression}: {outcome.reason}" for outcome in report.gates if not outcome.holds)
    clear = decision.answer is Publish.NO_OBJECTION
    return (
        Check(
            item=Item.AUDITED, state=State.HOLDS if tested else State.OPEN,
            reasons=() if tested else (str(decision.answer),),
        ),
        _counts(report),
        Check(item=Item.GATES, state=State.FAILS if failed else State.HOLDS, reasons=failed),
        Check(item=Item.DECISION, state=State.HOLDS if clear else State.OPEN, reasons=() if clear else (str(decision.answer),)),
    )  # fmt: skip


def _counts(report: AuditReport) -> Check:
    """Whether the audit is not void; where it took each row for a person against the evidence, somebody must answer for that."""
    if report.void:
        return Check(item=Item.COUNTS, state=State.FAILS, reasons=tuple(report.void))
    return Check(item=Item.COUNTS, state=State.OPEN if report.assumed else State.HOLDS, reasons=tuple(report.assumed))


def same_release(card: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two cards are of the same rows: what is said of the data may differ, what was released may not."""
    own, theirs = (_rows_of(one) for one in (card, other))
    if theirs:
        return own == theirs
    # A release that was audited before it was saved has no files yet: all else that its card says must be the same.
    parts = [{name: one.get(name) for name in _MADE} for one in (card, other)]
    return json.dumps(parts[0], sort_keys=True, default=list) == json.dumps(parts[1], sort_keys=True, default=list)


def _rows_of(card: Mapping[str, Any]) -> dict[str, str]:
    hashes = card.get("hashes")
    return {name: digest for name, digest in hashes.items() if name.startswith("data")} if isinstance(hashes, Mapping) else {}


def _alone(folder: Path) -> Check:
    """Whether nothing lies in the folder that a release does not have."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
    strange = tuple(f"{name}: is no file that a release has" for name in names if not is_release_file(name))
    return Check(item=Item.ALONE, state=State.FAILS if strange else State.HOLDS, reasons=strange)


def _unchanged(source: tuple[str | Path, str] | None) -> Check:
    if source is None:
        return Check(item=Item.UNCHANGED, state=State.OPEN, reasons=("which table it was made from is not said",))
    path, digest = Path(source[0]), source[1]
    if not path.is_file():
        return Check(item=Item.UNCHANGED, state=State.FAILS, reasons=(f"{path.name}: the file does not exist",))
    same = file_hash(path) == digest
    why = () if same else (f"{path.name}: was changed since the release was made",)
    return Check(item=Item.UNCHANGED, state=State.HOLDS if same else State.FAILS, reasons=why)


def _described(card: Mapping[str, Any], about: Mapping[str, str]) -> Check:
    given = {ABOUT[name]: text.strip() for name, text in about.items() if text.strip()}
    lacking = tuple(name for name, entry in (*ABOUT.items(), ("date", "date")) if not (given.get(entry) or card.get(entry)))
    return Check(
        item=Item.DESCRIBED, state=State.OPEN if lacking else State.HOLDS, reasons=tuple(f"the card lacks {n}" for n in lacking)
    )


def _line(check: Check) -> str:
    return f"{check.item}: {'; '.join(check.reasons)}"
