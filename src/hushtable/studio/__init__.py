"""The local web app: one person, one machine, one open table. The server asks and shows; it never computes and imports no numpy.

A screen is a module in ``screens/`` with a ``Screen`` (``view.py``) and a line in ``screens/__init__.py``. It has

- ``show``: an async function of a ``View`` that returns ``Shown``: the content, and the words of the command that does the same;
- ``actions``: name to an async function of the ``View`` and the ``Form`` that does something and returns where to go,
  ``view.to(...)``. InputError with every fault (``form.fault``, ``form.check``) shows the screen again: each fault is said on top
  and beside the field of its name (``parts.field`` and its kin), and what was typed is kept;
- ``pieces``: name to an async function of the ``View`` that returns markup for a place with ``data_load=view.piece(...)``;
- ``mark``: how it stands in the rail; asked for every page, so it reads the workspace and nothing else.

What it may ask for:

- the table: ``await view.ask("question", name=value)``. A question is a function in ``questions/``, called in the table worker
  with the open table (``questions/room.py``) and plain arguments, and listed in ``questions/__init__.py``. With ``slot=`` only the
  newest of its askers is answered. Answers are plain values, or markup to be wrapped in ``Html`` where a chart was drawn there;
- a job: ``view.start("verb", request, title, ...)``. A verb is a function in ``verbs/`` of the request, its folder and progress,
  called in a process of its own, and listed in ``verbs/__init__.py``;
- the workspace: ``view.workspace.choose(screen, values)`` keeps choices, ``change_schema`` changes the schema so that it can be
  undone, ``view.journal(change, reason, command)`` notes a decision. Neither holds a value of a row, and no address does.

Forms are made with ``parts.form`` and work without script. With ``region="id"`` the script replaces the element of that id (and
rail, strip, faults and command) by that of the page the action leads to. Sentences live in ``words/``, one module a screen.
"""
