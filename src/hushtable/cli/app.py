"""The command line. Every command is a call of one library function; it asks and shows, and decides nothing.

Exit codes: 0 fine, 2 bad input, 3 a guarantee or a gate refused, 4 a guarantee that could not be checked, 130 stopped.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from threading import current_thread, main_thread
from typing import Annotated

import typer

from hushtable import __version__
from hushtable.cli.apply import apply
from hushtable.cli.audit import audit
from hushtable.cli.certify import certify
from hushtable.cli.check import check
from hushtable.cli.compare import compare
from hushtable.cli.console import out, refuse, stopped
from hushtable.cli.demo import demo
from hushtable.cli.draw import draw
from hushtable.cli.evaluate import evaluate
from hushtable.cli.hierarchy import hierarchy
from hushtable.cli.hybrid import hybrid
from hushtable.cli.keys import keys
from hushtable.cli.mechanism import audit_mechanism
from hushtable.cli.methods import methods
from hushtable.cli.model import model
from hushtable.cli.options import Command
from hushtable.cli.pareto import pareto
from hushtable.cli.peek import peek
from hushtable.cli.predict import predict
from hushtable.cli.preflight import preflight
from hushtable.cli.profile import profile
from hushtable.cli.publish import publish
from hushtable.cli.records import records
from hushtable.cli.release import release
from hushtable.cli.report import report
from hushtable.cli.schema import schema
from hushtable.cli.sign import sign
from hushtable.cli.studio import studio
from hushtable.cli.study import study
from hushtable.cli.utility import utility
from hushtable.cli.verify import verify
from hushtable.errors import HushError

STOPPED = 130
"""The exit code after Ctrl-C, and after a signal to end."""

app = typer.Typer(
    help="Protect a sensitive table, prove what was promised, and attack the result.",
    no_args_is_help=True,
    # A traceback with local variables would print rows.
    pretty_exceptions_enable=False,
)
COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "peek": peek,
    "schema": schema,
    "profile": profile,
    "hierarchy": hierarchy,
    "methods": methods,
    "model": model,
    "preflight": preflight,
    "release": release,
    "draw": draw,
    "predict": predict,
    "audit": audit,
    "records": records,
    "certify": certify,
    "audit-mechanism": audit_mechanism,
    "report": report,
    "utility": utility,
    "compare": compare,
    "hybrid": hybrid,
    "pareto": pareto,
    "evaluate": evaluate,
    "apply": apply,
    "publish": publish,
    "verify": verify,
    "keys": keys,
    "sign": sign,
    "studio": studio,
    "study": study,
    "check": check,
}
"""In the order in which ``hush --help`` lists them."""
for _name, _command in COMMANDS.items():
    app.command(_name, cls=Command)(_command)


def main() -> None:
    """Run the command line and end with its exit code."""
    # A step or audit in the current folder is found by its module's name, but hides no installed module.
    sys.path.append(os.getcwd())
    # Whoever ends a run that takes too long or too much sends this signal: private files are removed as after Ctrl-C.
    if current_thread() is main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        app()
    except HushError as error:
        refuse(error)
        sys.exit(error.exit_code)
    except SystemExit as ended:
        if ended.code == STOPPED:
            stopped(ended)
        raise
    except MemoryError as error:
        stopped(error, "there was not enough memory: fewer columns, bins or rows need less")
        sys.exit(HushError.exit_code)
    except (SystemError, RuntimeError) as error:
        # Compiled code and the database that are interrupted say so in their own way.
        if "interrupted" not in str(error) and not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
        stopped(error)
        sys.exit(STOPPED)


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Protect a sensitive table, prove what was promised, and attack the result."""
    if show:
        out.print(__version__)
        raise typer.Exit
