"""A study done task by task, as a runner does it: each task as if in another process, results through JSON, refusals as such."""

from __future__ import annotations

import json
import pickle

from hushtable.errors import HushError
from hushtable.studies.study import Task, Work


def performed(work: Work) -> dict[str, dict]:
    """The results of all tasks by name."""
    names = [task.name for task in work.tasks]
    assert len(set(names)) == len(names)
    return {task.name: _result(task) for task in work.tasks}


def _result(task: Task) -> dict:
    make = pickle.loads(pickle.dumps(task.make))
    try:
        return json.loads(json.dumps(make(), allow_nan=False))
    except HushError as error:
        return {"title": task.title, "refused": str(error)}


def numbers_of(report, data: str, measure: str) -> dict:
    """The numbers of a measure by method."""
    return {one.method: one for one in report.numbers if one.data == data and one.measure == measure}
