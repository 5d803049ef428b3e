"""What became what: the released cells of every generalized column, as a file that a person or a program can read."""

from __future__ import annotations

import csv
import io

from hushtable.table.cell import Interval
from hushtable.table.columns import Cells
from hushtable.table.schema import Schema


def mapping_csv(schema: Schema) -> str:
    """Lines of column, value, released: a value or a range of values, and the cell that stands for it."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(["column", "value", "released"])
    for column in schema:
        if not isinstance(column.domain, Cells):
            continue
        for cell in column.domain.cells:
            if isinstance(cell.span, Interval):
                values = [column.interval_cell(cell.span).text]
            elif cell.span is None:
                values = ["any value, or none"]
            else:
                values = [level for level in column.base.levels if level in cell.span]  # type: ignore[union-attr]
            lines.writerows([column.name, value, cell.text] for value in values)
    return out.getvalue()
