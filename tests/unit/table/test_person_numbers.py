"""Numbers of people who hold several rows are drafted as keys; codes of all kinds stay what they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hushtable as ht
from hushtable.table import io
from hushtable.table.columns import Kind, Role
from hushtable.table.person_numbers import WHY

SEEDS = range(3)


def drafted(name, values, rng):
    """The line of one column, beside others, in random order."""
    values = rng.permutation(np.asarray(values, object))
    columns = {name: values, "sex": rng.choice(["f", "m"], len(values)), "dose": rng.integers(1, 400, len(values)).astype(str)}
    draft = io.drafted(pd.DataFrame(columns, dtype=object))
    return draft.lines[0], [note for note in draft.schema.notes if note.startswith(f"Column {name} ")]


def visits(numbers, rng, how="few"):
    """Each number in several rows: of a few rows each, as many each, or of some who come very often."""
    numbers = np.asarray(numbers, object)
    draw = {
        "few": lambda n: rng.geometric(0.35, n),
        "alike": lambda n: np.full(n, 4),
        "often": lambda n: np.maximum(1, rng.lognormal(1, 0.9, n).astype(int)),
        "twice": lambda n: rng.integers(1, 3, n),
    }
    return np.repeat(numbers, draw[how](len(numbers)))


def sample(rng, most, count):
    return np.sort(rng.choice(np.arange(1, most), count, replace=False))


FORMS = {
    "V000123": lambda rng: [f"V{n:06d}" for n in sample(rng, 900_000, 800)],
    "P-00417": lambda rng: [f"P-{n:05d}" for n in sample(rng, 1200, 900)],
    "P-00417, few of many": lambda rng: [f"P-{n:05d}" for n in sample(rng, 99_999, 400)],
    "2019-0042": lambda rng: [f"{y}-{n:04d}" for y in range(2015, 2022) for n in sample(rng, 9999, 90)],
    "2019/0042, all of them": lambda rng: [f"{y}/{n:04d}" for y in (2019, 2020) for n in range(1, 250)],
    "P2019-0042": lambda rng: [f"P{y}-{n:04d}" for y in (2019, 2020) for n in range(1, 250)],
    "19-00042": lambda rng: [f"{y}-{n:05d}" for y in range(17, 23) for n in sample(rng, 800, 200)],
    "P1 to P417": lambda rng: [f"P{n}" for n in range(1, 418)],
    "BER-001, MUC-001": lambda rng: [f"{s}-{n:03d}" for s in ("BER", "MUC", "HAM") for n in range(1, 180)],
    "K100123 on": lambda rng: [f"K{100_000 + n}" for n in sample(rng, 700, 500)],
    "0004217": lambda rng: [f"{n:07d}" for n in sample(rng, 5000, 4000)],
    "four digits": lambda rng: [f"S{n:04d}" for n in sample(rng, 2000, 600)],
}
NAMES = ["number", "x7", "ref", "vsnr", "Kennung"]


@pytest.mark.parametrize("how", ["few", "alike", "often"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_of_people_are_keys_whatever_their_name(seed, form, how):
    rng = np.random.default_rng(seed)
    name = NAMES[seed % len(NAMES)]
    line, said = drafted(name, visits(FORMS[form](rng), rng, how), rng)
    assert (line.column.kind, line.column.role) == (Kind.KEY, Role.IDENTIFIER), line
    assert line.kind_reason in (WHY, "each of many numbers stands equally often")
    assert any(f" each): drafted as a key, which is dropped. To protect people and not rows: --person {name} " in s for s in said)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_the_remark_stands_where_most_people_hold_one_row_too(seed, form):
    rng = np.random.default_rng(seed)
    line, said = drafted("number", visits(FORMS[form](rng), rng, "twice"), rng)
    assert line.column.kind is Kind.KEY
    assert any("--person number --rows-per-person 2" in s for s in said)


def test_a_few_slips_and_a_word_for_nobody_change_nothing():
    rng = np.random.default_rng(0)
    values = [*visits(FORMS["V000123"](rng), rng), *["v 17", "V12", "V-000.123"], *["ohne"] * 120]
    line, _ = drafted("nummer", values, rng)
    assert line.column.kind is Kind.KEY


@pytest.mark.parametrize("name", ["patient", "proband_code", "Versichertennummer", "vp_code", "Kundennr", "participant"])
@pytest.mark.parametrize("form", ["P-{:03d}", "{:04d}", "vp{}"])
def test_few_people_are_known_by_the_name_of_the_column(name, form):
    rng = np.random.default_rng(0)
    numbers = [form.format(n) for n in range(1, 40)] if "d" in form else [form.format(n + 100) for n in range(40)]
    line, said = drafted(name, visits(numbers, rng, "alike"), rng)
    assert line.column.kind is Kind.KEY
    assert any("--person" in s for s in said)
    # Under another name they may be wards or devices.
    assert drafted("x", visits(numbers, rng, "alike"), rng)[0].column.kind is Kind.CATEGORY


def zipf(values, rows, rng, steep=1.0):
    """Some values very often, as goods and diagnoses are."""
    weights = 1 / np.arange(1, len(values) + 1) ** steep
    return rng.choice(np.asarray(values, object), rows, p=weights / weights.sum())


def even(values, rows, rng):
    return rng.choice(np.asarray(values, object), rows)


LETTERS = list("ABCDEFGHIJKLMNOPQRSTUVWZ")
CODES = {
    # Diagnoses and treatments, whatever the column is called.
    "I10.9": ("x", lambda rng: zipf([f"{a}{n:02d}.{s}" for a in LETTERS for n in range(0, 99, 4) for s in (0, 1, 9)], 9000, rng)),
    "I10": ("x", lambda rng: zipf([f"{a}{n:02d}" for a in LETTERS for n in range(99)], 9000, rng)),
    "I10, evenly": ("x", lambda rng: even([f"{a}{n:02d}" for a in LETTERS for n in range(0, 99, 2)], 9000, rng)),
    "S72.001": ("x", lambda rng: even([f"S{n}.{m:03d}" for n in range(20, 99) for m in range(1, 12)], 9000, rng)),
    "J1100 (HCPCS)": ("x", lambda rng: even([f"{a}{n:04d}" for a in "AEGHJKLQ" for n in sample(rng, 9999, 90)], 9000, rng)),
    "A10BA02 (ATC)": ("x", lambda rng: even([f"{a}10{b}A{n:02d}" for a in LETTERS for b in "ABC" for n in range(1, 9)], 9000, rng)),
    "5-470.1 (OPS)": ("x", lambda rng: even([f"{h}-{n}.{s}" for h in (5, 8) for n in range(400, 500) for s in "018"], 9000, rng)),
    "00100 (CPT)": ("x", lambda rng: even([f"{n:05d}" for n in sample(rng, 99_999, 900)], 9000, rng)),
    # Places.
    "01067": ("x", lambda rng: even([f"{n:05d}" for n in sample(rng, 99_999, 1200)], 9000, rng)),
    "D-01067": ("Wohnort", lambda rng: even([f"D-{n:05d}" for n in sample(rng, 99_999, 1200)], 9000, rng)),
    "SW1A 1AA": ("x", lambda rng: even([f"N{n} {m}A{b}" for n in range(1, 60) for m in range(9) for b in "BC"], 9000, rng)),
    "1234 AB": ("x", lambda rng: even([f"{n} {a}{b}" for n in range(1011, 1400) for a in "AB" for b in "CD"], 9000, rng)),
    "1000-205 (PT)": ("x", lambda rng: even([f"{n}-{m:03d}" for n in range(1000, 1995, 5) for m in range(1, 500, 70)], 9000, rng)),
    "30-001 (PL)": ("x", lambda rng: even([f"{n}-{m:03d}" for n in range(30, 35) for m in range(1, 400)], 9000, rng)),
    "LV-1010": ("x", lambda rng: even([f"LV-{n}" for n in range(1001, 1900)], 9000, rng)),
    "C1425": ("x", lambda rng: even([f"{a}{n}" for a in LETTERS for n in sample(rng, 9000, 60) + 1000], 9000, rng)),
    "E05000026": ("x", lambda rng: even([f"E{n:08d}" for n in range(5_000_026, 5_000_700)], 9000, rng)),
    "01001000 (AGS)": (
        "x",
        lambda rng: even([f"{a:02d}{b:03d}{c:03d}" for a in range(1, 17) for b in range(1, 9) for c in range(9)], 9000, rng),
    ),
    "DE212 (NUTS)": ("x", lambda rng: even([f"{c}{n}" for c in ("DE", "AT", "FR", "IT") for n in range(111, 300, 3)], 9000, rng)),
    # Work, telephones, flights, wards.
    "2211 (ISCO)": ("x", lambda rng: even([f"{n:04d}" for n in sample(rng, 9999, 430)], 9000, rng)),
    "0221 (area code)": ("x", lambda rng: even([f"0{n}" for n in sample(rng, 9999, 700)], 9000, rng)),
    "(212)": ("x", lambda rng: even([f"({n})" for n in range(201, 989)], 9000, rng)),
    "+49 221": ("x", lambda rng: even([f"+49 {n}" for n in sample(rng, 9999, 700)], 9000, rng)),
    "LH400": ("x", lambda rng: even([f"{a}{n}" for a in ("LH", "BA", "AF", "KL", "UA") for n in sample(rng, 3000, 90)], 9000, rng)),
    "LH 0400": ("x", lambda rng: even([f"LH {n:04d}" for n in sample(rng, 9999, 300)], 9000, rng)),
    "LH100 to LH999": ("x", lambda rng: even([f"LH{n}" for n in range(100, 1000)], 20_000, rng)),
    "W01 to W60": ("x", lambda rng: even([f"W{n:02d}" for n in range(1, 61)], 3000, rng)),
    "W-0001, many rows each": ("x", lambda rng: even([f"W-{n:04d}" for n in range(1, 121)], 30_000, rng)),
    "BC-003": ("x", lambda rng: even([f"{a}{b}-{n:03d}" for a in LETTERS for b in "ABCD" for n in range(1, 9)], 9000, rng)),
    # Goods, of which some sell well.
    "A-00417": ("x", lambda rng: zipf([f"A-{n:05d}" for n in rng.permutation(np.arange(1, 900))], 9000, rng)),
    "SKU-00417": ("x", lambda rng: even([f"SKU-{n:05d}" for n in range(1, 900)], 9000, rng)),
    "2019-042 (day of a year)": ("x", lambda rng: even([f"{y}-{n:03d}" for y in (2019, 2020) for n in range(1, 366)], 9000, rng)),
    "2019-W07": ("x", lambda rng: even([f"{y}-W{n:02d}" for y in range(2010, 2020) for n in range(1, 53)], 9000, rng)),
    **{
        f"under the name {name}": (name, lambda rng: even([f"P-{n:05d}" for n in range(1, 900)], 9000, rng))
        for name in (
            "product_code", "article", "Artikelnummer", "ward_code", "ward", "station", "icd", "diagnosis_code", "postcode", "plz",
            "isco", "occupation_code", "area_code", "vorwahl", "flight", "flight_no", "flightNumber", "drug", "hospital_code",
            "device", "department", "school_code", "patient_group", "customer_type", "shop",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", CODES)
def test_codes_stay_categories(seed, form):
    rng = np.random.default_rng(seed)
    name, values = CODES[form]
    line, said = drafted(name, values(rng), rng)
    assert line.column.kind in (Kind.CATEGORY, Kind.INTEGER), line
    assert not any("--person" in s for s in said)


def test_the_draft_leads_to_people_who_are_counted():
    rng = np.random.default_rng(0)
    values = visits(FORMS["V000123"](rng), rng)
    frame = pd.DataFrame({"vsnr": values, "sex": rng.choice(["f", "m"], len(values))}, dtype=object)
    schema = ht.draft(frame)
    assert "vsnr" not in schema.released
    table = ht.read(frame, schema)
    assert ht.pareto(table, ks=(5,), limits=(1.0,), settings={"columns": "sex"}, person="vsnr").persons == 800
