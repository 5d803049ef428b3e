"""Estimators give back what they got: the library, the order of columns and their types."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hushtable as ht

INVENTED = "nobody in it exists"
SCHEMA = ht.Schema.parse(
    """
columns:
  when: {kind: date, domain: [2000-01-01, 2020-12-31]}
  age: {kind: integer, domain: [0, 120], role: quasi, required: true}
  pay: {kind: real, domain: [0, 1000]}
  town: {kind: category, domain: [a, b, c, d]}
  ill: {kind: category, domain: ["True", "False"]}
  children: {kind: integer, domain: [0, 9]}
"""
)


def rows(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n).astype("int32"),
            "town": pd.Categorical(rng.choice(["a", "b"], n), categories=["d", "b", "a", "c"]),
            "ill": rng.random(n) < 0.5,
            "when": pd.Timestamp("2010-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "pay": rng.random(n).astype("float32") * 100,
            "children": pd.array([None, *rng.integers(0, 5, n - 1)], dtype="Int64"),
        },
        index=np.arange(100, 100 + n),
    )


def test_pandas_types_and_order_come_back():
    given = rows()
    back = ht.Anonymizer("mdav", k=5, schema=SCHEMA, random_state=1, allow_copies=INVENTED).fit_transform(given)
    assert list(back.columns) == list(given.columns)
    assert back["age"].dtype == "int32"
    assert back["ill"].dtype == bool
    assert back["ill"].mean() == given["ill"].mean()
    assert back["when"].dtype == given["when"].dtype
    assert back["pay"].dtype == "float32"
    assert back["children"].dtype == "Int64"
    assert back["children"].isna().sum() == given["children"].isna().sum()
    assert list(back.index) == list(range(len(back)))


def test_categories_are_those_that_were_released_in_their_order():
    back = ht.Anonymizer("mdav", k=5, schema=SCHEMA, random_state=1, allow_copies=INVENTED).fit_transform(rows())
    assert list(back["town"].cat.categories) == ["b", "a"]


def test_generalized_columns_are_text():
    back = ht.Anonymizer("k-anonymity", k=20, schema=SCHEMA, random_state=1).fit_transform(rows())
    assert all(isinstance(value, str) for value in back["age"])


def test_a_synthesizer_gives_the_types_of_what_it_was_fitted_on_and_holds_no_row():
    model = ht.Synthesizer("mst", epsilon=1.0, schema=SCHEMA).fit(rows())
    drawn = model.sample(30, random_state=1)
    assert len(drawn) == 30
    assert drawn["age"].dtype == "int32"
    assert drawn["town"].dtype == "category"
    assert len(model._given) == 0


def test_polars_in_polars_out():
    pl = pytest.importorskip("polars")
    given = pl.from_pandas(rows()).with_columns(pl.col("age").cast(pl.Int16))
    back = ht.Anonymizer("mdav", k=5, schema=SCHEMA, random_state=1, allow_copies=INVENTED).fit_transform(given)
    assert isinstance(back, pl.DataFrame)
    assert back.columns == given.columns
    assert (back["age"].dtype, back["ill"].dtype, back["pay"].dtype) == (pl.Int16, pl.Boolean, pl.Float32)
    assert back["when"].dtype == given["when"].dtype


def test_arrow_in_arrow_out():
    pa = pytest.importorskip("pyarrow")
    given = pa.Table.from_pandas(rows(), preserve_index=False)
    back = ht.Anonymizer("mdav", k=5, schema=SCHEMA, random_state=1, allow_copies=INVENTED).fit_transform(given)
    assert isinstance(back, pa.Table)
    assert back.column_names == given.column_names
    assert [back.schema.field(name).type for name in ("age", "ill", "pay")] == [pa.int32(), pa.bool_(), pa.float32()]
    assert pa.types.is_dictionary(back.schema.field("town").type)


def test_a_file_or_a_table_gives_a_pandas_frame():
    table = ht.read(rows(), SCHEMA)
    assert isinstance(ht.Anonymizer("mdav", k=5, random_state=1, allow_copies=INVENTED).fit_transform(table), pd.DataFrame)
