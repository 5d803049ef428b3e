"""Hierarchy files: read whatever their delimiter, checked to be trees, and refused with the value that breaks them."""

from __future__ import annotations

import pytest

from hushtable.errors import InputError
from hushtable.table.hierarchy import DateTree, FileTree, IntervalTree, PrefixTree, lint, parse, read_file
from hushtable.table.io import read
from hushtable.table.schema import Schema

ROWS = (("17", "[15, 20[", "[10, 20[", "*"), ("18", "[15, 20[", "[10, 20[", "*"), ("20", "[20, 25[", "[20, 30[", "*"))


def file_of(folder, text, name="tree.csv"):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def faults_of(folder, text):
    with pytest.raises(InputError) as caught:
        read_file(file_of(folder, text), folder)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "text",
    [
        '17,"[15, 20[","[10, 20[",*\n18,"[15, 20[","[10, 20[",*\n20,"[20, 25[","[20, 30[",*\n',
        'level0,level1,level2,level3\n17,"[15, 20[","[10, 20[",*\n18,"[15, 20[","[10, 20[",*\n20,"[20, 25[","[20, 30[",*\n',
        "17;[15, 20[;[10, 20[;*\n18;[15, 20[;[10, 20[;*\n20;[20, 25[;[20, 30[;*\n",
        "Level-0;Level-1;Level-2;Level-3\n17;[15, 20[;[10, 20[;*\n18;[15, 20[;[10, 20[;*\n20;[20, 25[;[20, 30[;*",
        "17\t[15, 20[\t[10, 20[\t*\n18\t[15, 20[\t[10, 20[\t*\n20\t[20, 25[\t[20, 30[\t*\n",
        "\ufeff17; [15, 20[ ;[10, 20[;*\r\n\r\n18;[15, 20[;[10, 20[;*\r\n20;[20, 25[;[20, 30[;*\r\n",
    ],
    ids=["comma", "header", "semicolon", "ARX header", "tab", "BOM, CRLF and blanks"],
)
def test_the_same_tree_is_read_from_every_way_to_write_it(tmp_path, text):
    tree = read_file(file_of(tmp_path, text), tmp_path)
    assert tree == FileTree("tree.csv", ROWS)
    assert tree.height == 3


def test_labels_with_as_many_commas_as_semicolons_do_not_confuse(tmp_path):
    tree = read_file(file_of(tmp_path, "Smith, J;A, B;*\nMiller, K;C, D;*\n"), tmp_path)
    assert tree.rows == (("Smith, J", "A, B", "*"), ("Miller, K", "C, D", "*"))


def test_a_leaf_may_look_like_anything_but_a_header(tmp_path):
    tree = read_file(file_of(tmp_path, "level,x,*\nlevel1,x,*\n"), tmp_path)
    assert [row[0] for row in tree.rows] == ["level", "level1"]


def test_groups_list_their_leaves_in_the_order_of_the_file():
    tree = FileTree("f.csv", ROWS)
    assert tree.groups[0] == {"[15, 20[": ("17", "18"), "[20, 25[": ("20",)}
    assert tree.groups[2] == {"*": ("17", "18", "20")}
    again = FileTree("f.csv", (("a", "x", "x"), ("b", "y", "x")))
    assert again.widest == {"x": ("a", "b"), "y": ("b",)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["hierarchy tree.csv: the file is empty"]),
        ("level0,level1\n", ["hierarchy tree.csv: the file is empty"]),
        ("a\nb\n", ["hierarchy tree.csv: there is only one level; a hierarchy has at least the value and one group above it"]),
        (
            "level0,level1,level2\na,x,*\nb,x\nc,x,*\nd\n",
            ["hierarchy tree.csv: lines have different numbers of levels (the first has 3); rows 3, 5"],
        ),
        ("a,*\nb\n", ["hierarchy tree.csv: lines have different numbers of levels (the first has 2); row 2"]),
        (
            "level0,level1\na,*\nb,*\na,*\n",
            ["hierarchy tree.csv: value 'a' stands on line 2 and again on line 4"],
        ),
        (
            "a,x,p,*\nb,x,q,*\nc,y,q,*\nc,y,p,*\n",
            [
                "hierarchy tree.csv: value 'c' stands on line 3 and again on line 4",
                "hierarchy tree.csv: no tree: 'x' on level 1 lies under both 'p' and 'q' on level 2",
                "hierarchy tree.csv: no tree: 'y' on level 1 lies under both 'q' and 'p' on level 2",
            ],
        ),
        (
            "a,x\nb,y\nc,z\n",
            ["hierarchy tree.csv: the last level must be one value such as '*', but has 3: 'x', 'y', 'z'"],
        ),
        (b"a,x\xff,*\n", ["hierarchy tree.csv: the file is not UTF-8"]),
    ],
)
def test_what_is_no_tree_is_refused_with_the_value_that_breaks_it(tmp_path, text, expected):
    assert faults_of(tmp_path, text) == expected


def test_an_endless_quotation_is_a_fault_of_the_file_not_a_crash(tmp_path):
    (fault,) = faults_of(tmp_path, 'a,"x' + "y" * 200_000)
    assert fault.startswith("hierarchy tree.csv: is not a readable table")


def test_a_tree_passes_the_lint():
    assert lint(ROWS, "x") == []


@pytest.mark.parametrize(
    ("spec", "tree"),
    [
        ({"intervals": ["5", "10", "20"]}, IntervalTree((5.0, 10.0, 20.0))),
        ({"intervals": "2.5"}, IntervalTree((2.5,))),
        ({"prefix": ["4", "2"]}, PrefixTree((4, 2))),
        ({"dates": ["month", "year"]}, DateTree(("month", "year"))),
    ],
)
def test_the_short_forms_are_read_and_written(spec, tree):
    assert parse(spec, None) == tree
    assert parse(tree.spec(), None) == tree


def test_the_values_of_the_domain_that_have_no_line_are_named(tmp_path):
    file_of(tmp_path, "".join(f"{age},about {age // 5 * 5},*\n" for age in range(17, 91) if age not in (33, 89)))
    with pytest.raises(InputError) as caught:
        Schema.parse("columns: {age: {kind: integer, domain: [17, 90], hierarchy: tree.csv}}", folder=tmp_path)
    assert str(caught.value) == "schema, column age: hierarchy: has no line for values of the domain ('33', '89')"
    assert caught.value.faults[0].count == 2


def test_numbers_are_matched_as_numbers_and_levels_as_texts(tmp_path):
    file_of(tmp_path, "1.0,a,*\n2,a,*\n03,b,*\n")
    Schema.parse("columns: {n: {kind: integer, domain: [1, 3], hierarchy: tree.csv}}", folder=tmp_path)
    with pytest.raises(InputError, match=r"\('1', '3'\)"):
        Schema.parse("columns: {n: {kind: category, domain: [1, 2, 3], hierarchy: tree.csv}}", folder=tmp_path)


@pytest.mark.parametrize(("role", "shown"), [("quasi", True), ("secret", False)])
def test_rows_without_a_line_are_refused_when_the_domain_is_open(tmp_path, role, shown):
    file_of(tmp_path, "a,x,*\nb,x,*\n")
    schema = Schema.parse(f"columns: {{c: {{kind: category, role: {role}, hierarchy: tree.csv}}}}", folder=tmp_path)
    (tmp_path / "t.csv").write_text("c\na\nb\nzebra\n", encoding="utf-8")
    with pytest.raises(InputError, match="the hierarchy has no line for some values") as caught:
        read(tmp_path / "t.csv", schema)
    assert ("zebra" in str(caught.value)) == shown


@pytest.mark.parametrize("kind", ["text", "key"])
def test_free_texts_have_no_hierarchy(tmp_path, kind):
    file_of(tmp_path, "a,x,*\nb,x,*\n")
    with pytest.raises(InputError, match=f"does not suit kind {kind}"):
        Schema.parse(f"columns: {{c: {{kind: {kind}, hierarchy: tree.csv}}}}", folder=tmp_path)


def test_the_faults_of_a_file_are_listed_under_the_column_that_names_it(tmp_path):
    file_of(tmp_path, "a,x\nb,y\na,x\n")
    with pytest.raises(InputError) as caught:
        Schema.parse("columns: {c: {kind: category, hierarchy: tree.csv}, d: {kind: nothing}}", folder=tmp_path)
    assert [str(fault).split(": ")[:2] for fault in caught.value.faults] == [
        ["schema, column c", "hierarchy tree.csv"],
        ["schema, column c", "hierarchy tree.csv"],
        ["schema, column d", "kind"],
    ]


def test_a_label_that_is_another_value_is_named(tmp_path):
    """Rows written A171 would be taken for the value A171, which lies under another label."""
    file_of(tmp_path, "A171,A172,*\nA172,A172,*\nA173,A171,*\n")
    with pytest.raises(InputError, match="'A171' on level 1 is a value too, and does not lie under itself"):
        Schema.parse("columns: {job: {kind: category, domain: [A171, A172, A173], hierarchy: tree.csv}}", folder=tmp_path)
