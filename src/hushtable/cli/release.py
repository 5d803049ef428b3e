"""The command line. Every command is a call of one library function; this file only asks and shows.

Exit codes: 0 fine, 2 bad input, 3 a guarantee or a gate refused, 4 a guarantee that could not be checked.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

from hushtable import __version__
from hushtable.cli import audit as attacking
from hushtable.cli import compare as comparing
from hushtable.cli import report as reporting
from hushtable.cli.console import (
    out,
    print_json,
    progress,
    refuse,
    show_guarantee,
    show_method,
    show_methods,
    show_sheet,
    show_verification,
    stopped,
    verification_json,
)
from hushtable.cli.options import Data, Json, Person, Seed, Trust, numbers_of, settings_of, whole_numbers_of
from hushtable.errors import HushError, InputError

if TYPE_CHECKING:
    from hushtable.pipeline.signature import SigningKey

app = typer.Typer(
    help="Protect a sensitive table, prove what was promised, and attack the result.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local variables would print rows.
    pretty_exceptions_enable=False,
)
UNCHECKED = 4
"""The exit code where nothing is wrong, but a guarantee could not be checked."""
STOPPED = 130
"""The exit code after Ctrl-C."""


def main() -> None:
    """Run the command line and end with its exit code."""
    # A step or audit in the current folder is found by its module's name, but hides no installed module.
    sys.path.append(os.getcwd())
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


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="A new folder for everything the demo makes.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="People in the fictional town.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the town and of the runs.")] = 0,
    as_json: Json = False,
) -> None:
    """Release the bundled table in three ways, attack each, and say what was promised."""
    from hushtable.api.demo import run_demo

    with progress(quiet=as_json) as tell:
        told = run_demo(folder, rows=rows, seed=seed, progress=tell)
    if as_json:
        print_json(told)
        return
    keys = "recipe", "promised", "alarms", "singling out", "linkability", "inference", "auc"
    heads = "release", "promised", "alarms", "single", "link", "infer", "AUC"
    grid = Grid(
        *heads,
        title="Three ways to share one table: the worst attack that singles out, links and infers, and the AUC for readmitted",
    )
    for line in told["releases"]:
        grid.add_row(*(escape(str(line[key])) for key in keys))
    out.print(grid)
    out.print(f"Everything is in [bold]{escape(str(folder))}[/bold]. Begin with these pages:")
    for line in told["releases"]:
        out.print(f"  {escape(line['card'])}   (public)\n  {escape(line['audit'])}   (private)")


@app.command()
def schema(
    data: Annotated[
        Path, typer.Argument(help="A .csv, .csv.gz or .parquet file; with --declare, a schema file.", show_default=False)
    ],
    target: Annotated[Path | None, typer.Option("-o", "--out", help="Where to write the draft; printed when absent.")] = None,
    declare: Annotated[
        bool,
        typer.Option(
            "--declare", help="Declare a drafted schema that you have read: its marks 'observed' are removed from the file."
        ),
    ] = False,
    by: Annotated[str, typer.Option(help="Who declares it; the card of a release says so.")] = "",
    only: Annotated[str, typer.Option(help="Facets to declare, with commas (kind,role,decimals); all when absent.")] = "",
    as_json: Json = False,
) -> None:
    """Draft a schema for a table: kinds, missing codes, identifiers, likely quasi-identifiers; or declare one."""
    from hushtable.table.disk import refuse_existing, whole_file
    from hushtable.table.infer import HEAD
    from hushtable.table.io import draft

    if declare:
        if target is not None:
            raise InputError("a schema is declared where it is; leave out --out", where="--declare")
        _declare(data, by, [item.strip() for item in only.split(",") if item.strip()], as_json=as_json)
        return
    if by or only:
        raise InputError("go with --declare", where="--by, --only")
    if target is not None:
        refuse_existing(target)
    drafted = draft(data)
    if target is not None:
        with whole_file(target) as partial:
            partial.write_text(drafted.dump(), encoding="utf-8")
    if as_json:
        columns = [{"name": c.name, "kind": str(c.kind), "role": str(c.role)} for c in drafted]
        print_json(
            {
                "columns": columns,
                "missing": list(drafted.missing),
                "notes": list(drafted.notes),
                "file": str(target) if target else None,
            }
        )
    elif target is None:
        print(drafted.dump(), end="")  # noqa: T201 - the schema itself, unwrapped, for a pipe
    else:
        grid = Grid("column", "kind", "role")
        for column in drafted:
            grid.add_row(escape(column.name), str(column.kind), str(column.role))
        out.print(grid)
        for note in drafted.notes[len(HEAD) :]:
            out.print(f"- {escape(note)}")
        out.print(
            f"Draft written to [bold]{escape(str(target))}[/bold]. Check kinds and roles before you release anything. A privacy "
            "budget is refused until what is public knowledge in it is declared:\n"
            + escape(f"  {shlex.join(['hush', 'schema', str(target), '--declare', '--by', 'your name'])}")
        )


def _declare(path: Path, by: str, only: list[str], *, as_json: bool) -> None:
    from hushtable.table.declare import declare

    before, after = declare(path, by, only)
    marks = {name: sorted(facets - after.undeclared.get(name, frozenset())) for name, facets in before.undeclared.items()}
    if as_json:
        print_json({"file": str(path), "declared": marks, "by": after.declared_by, "left": sorted(after.undeclared)})
        return
    out.print(
        f"{escape(after.declared_by or 'You')} declared {len(marks)} columns of [bold]{escape(str(path))}[/bold] to be public "
        "knowledge: not learnt from these rows alone, and safe to publish whoever is or is not among them."
    )
    if after.undeclared:
        out.print(f"Still read off the rows: {escape(', '.join(after.undeclared))}")


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="A recipe or a step.", show_default=False)] = None, as_json: Json = False
) -> None:
    """List the recipes and steps, or everything about one of them."""
    from hushtable.api import methods as listing

    if name is not None:
        told = listing.describe(name)
        if as_json:
            print_json(told)
        else:
            show_method(told)
        return
    everything = listing.everything()
    if as_json:
        print_json(everything)
        return
    show_methods(everything)


@app.command()
def release(
    data: Data,
    schema_file: Annotated[
        Path, typer.Option("--schema", help="The schema of the table; 'hush schema' drafts one.", show_default=False)
    ],
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the release.", show_default=False)],
    recipe: Annotated[
        str | None, typer.Option(help="A recipe by name ('hush methods') or a recipe file.", show_default=False)
    ] = None,
    best_of: Annotated[
        str | None,
        typer.Option(
            help="In its place: private recipes with commas, of which the best is kept; --epsilon pays for the choice too."
        ),
    ] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A knob: k=10, or step.knob=value. May be repeated.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Privacy budget of the whole release.")] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="Its delta; 1e-6 when absent (1e-9 where the schema declares a size above 100,000), 0 for pure."),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Rows to synthesize.")] = None,
    person: Person = None,
    rows_per_person: Annotated[int, typer.Option(help="The most rows one person may hold.")] = 1,
    relation: Annotated[
        str, typer.Option(help="Neighbours: add_remove (n is private) or replace_one (n is public).")
    ] = "add_remove",
    hold_out: Annotated[float | None, typer.Option(help="Set this share aside as control rows, in OUT.private.")] = None,
    form: Annotated[str, typer.Option("--format", help="csv, csv.gz or parquet.")] = "csv",
    unproven: Annotated[
        bool,
        typer.Option("--unproven", help="Release even if steps read rows unprotected, so that epsilon is infinite."),
    ] = False,
    learn_domain: Annotated[
        bool, typer.Option("--learn-domain", help="Learn kinds and domains that are marked as observed, for a tenth of the budget.")
    ] = False,
    signed: Annotated[Path | None, typer.Option("--sign", help="Your private key ('hush keys'), to sign the card with.")] = None,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Make a release: data, card.json, card.html, recipe.yaml and schema.yaml in a new folder."""
    import hushtable as ht
    from hushtable.api.release import rows_used, save_private
    from hushtable.pipeline.recipe import load
    from hushtable.privacy.unit import Relation, Unit
    from hushtable.table.disk import refuse_existing
    from hushtable.table.io import read

    refuse_existing(folder)
    private = folder.with_name(f"{folder.name}.private")
    if hold_out is not None:
        refuse_existing(private, private=True)
    _require_form(form)
    if relation not in list(Relation):
        raise InputError(f"expected add_remove or replace_one, got {relation!r}", where="--relation")
    unit = Unit(relation=Relation(relation), rows=rows_per_person, by=person)
    several = [name.strip() for name in (best_of or "").split(",") if name.strip()]
    _require_method(recipe, several, epsilon, not (settings or unproven or learn_domain))
    chosen = load(recipe).set(settings_of(settings or [])) if recipe is not None else None
    key = None if signed is None else _signing_key(signed)
    table = read(data, schema_file)
    train, control = table, None
    if hold_out is not None:
        # A seeded split would move other people too, and the promise would be one about the training rows alone.
        train, control = ht.hold_out(table, hold_out, seed if epsilon is None else None, by=person)
    with progress(quiet=as_json) as tell:
        if chosen is not None:
            made = ht.release(
                train, chosen, epsilon=epsilon, delta=delta, unit=unit, rows=rows, seed=seed, unproven=unproven,
                learn_domain=learn_domain, progress=tell,
            )  # fmt: skip
        else:
            made = ht.best_of(train, several, epsilon=epsilon or 0.0, delta=delta, unit=unit, rows=rows, seed=seed)
    ht.save(made, folder, form, key)
    if control is not None:
        save_private({"train": train, "control": control}, private)
    if as_json:
        print_json(made.card() | {"folder": str(folder), "private": str(private) if control is not None else None})
        return
    if left := train.rows - rows_used(train, unit):
        out.print(
            f"{left:,} of {train.rows:,} training rows were not used: at most {rows_per_person} of each {escape(str(person))}"
        )
    if table.ignored:
        out.print(f"Left out, because the schema does not name them: {escape(', '.join(table.ignored))}")
    if made.dropped:
        out.print(f"Left out, because they identify people or are free text: {escape(', '.join(made.dropped))}")
    show_guarantee(made.guarantee.sentences(), str(made.guarantee.assurance))
    for warning in made.warnings:
        out.print(f"[yellow]For you alone:[/yellow] {escape(warning)}.")
    for told in made.result.values():
        if gone := told.get("suppressed_rows") or told.get("rows_dropped"):
            out.print(f"{gone:,} of {rows_used(train, unit):,} rows were suppressed")
        if note := told.get("note"):
            out.print(f"[yellow]Mind:[/yellow] {escape(str(note))}.")
    files = sorted(p.name for p in folder.iterdir())
    out.print(f"{made.table.rows:,} rows in [bold]{escape(str(folder))}[/bold]: {', '.join(files)}")
    if control is not None:
        files = [f"--{name}={private / name}.csv" for name in ("train", "control")]
        whom = [] if person is None else [f"--person={person}"]
        hint = ["hush", "audit", *files, f"--release={folder}", f"--schema={schema_file}", *whom, f"--out={folder}.audit"]
        out.print(
            f"Training and control rows are in [bold]{escape(str(private))}[/bold] (private). Attack the release with:\n"
            + escape(f"  {shlex.join(hint)}")
        )


app.command()(attacking.audit)
app.command()(attacking.certify)
app.command("audit-mechanism")(attacking.audit_mechanism)
app.command()(reporting.report)
app.command()(comparing.utility)
app.command()(comparing.compare)


@app.command()
def pareto(
    data: Data,
    schema_file: Annotated[Path, typer.Option("--schema", help="The schema of the table.", show_default=False)],
    ks: Annotated[str, typer.Option("--k", help="The values of k, with commas.")] = "2,5,10,20,50",
    limits: Annotated[
        str, typer.Option("--limit", help="The largest shares of suppressed rows, with commas.")
    ] = "0,0.01,0.02,0.05,0.1,1",
    settings: Annotated[list[str] | None, typer.Option("--set", help="A knob of 'generalize': loss=entropy, l=2.")] = None,
    folder: Annotated[Path | None, typer.Option("--out", help="A new folder for the sheet as a page. It is private.")] = None,
    as_json: Json = False,
) -> None:
    """What each k costs: the least loss of generalization for every k and suppression limit, in one search."""
    from hushtable.api.pareto import pareto as make_sheet
    from hushtable.table.disk import refuse_existing
    from hushtable.table.io import read

    if folder is not None:
        refuse_existing(folder, private=True)
    wanted = whole_numbers_of(ks, "--k"), numbers_of(limits, "--limit")
    table = read(data, schema_file)
    with progress(quiet=as_json) as tell:
        sheet = make_sheet(table, ks=wanted[0], limits=wanted[1], settings=settings_of(settings or []), progress=tell)
    if folder is not None:
        sheet.save(folder)
    if as_json:
        print_json({"loss": sheet.loss, "rows": sheet.rows, "lines": sheet.lines, "folder": str(folder) if folder else None})
        return
    show_sheet(sheet.lines)
    if folder is not None:
        out.print(f"The sheet is [bold]{escape(str(folder))}/pareto.html[/bold]. It was computed from raw rows: do not publish it.")


@app.command()
def apply(
    released: Annotated[Path, typer.Argument(help="A release that was generalized.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="New rows: a .csv, .csv.gz or .parquet file.", show_default=False)],
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the release of the new rows.", show_default=False)],
    form: Annotated[str, typer.Option("--format", help="csv, csv.gz or parquet.")] = "csv",
    trust: Trust = False,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Put the mapping of a release on new rows; k, l and t are verified on these, and what does not hold is suppressed."""
    import hushtable as ht
    from hushtable.api import pareto as generalization
    from hushtable.table.disk import refuse_existing

    refuse_existing(folder)
    _require_form(form)
    with progress(quiet=as_json) as tell:
        made = generalization.apply(released, data, seed=seed, trust=trust, progress=tell)
    ht.save(made, folder, form)
    if as_json:
        print_json(made.card() | {"folder": str(folder)})
        return
    show_guarantee(made.guarantee.sentences(), str(made.guarantee.assurance))
    gone = next((told["suppressed_rows"] for name, told in made.result.items() if name.startswith("generalize")), 0)
    out.print(f"{made.table.rows:,} rows in [bold]{escape(str(folder))}[/bold]; {gone:,} new rows were suppressed.")
    if gone > made.table.rows:
        out.print("[yellow]Most of them: the mapping was made for other rows. A release of their own would lose less.[/yellow]")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="A release folder.", show_default=False)],
    key: Annotated[
        Path | None, typer.Option(help="The public key that the card must be signed with; 'hush keys' makes pairs.")
    ] = None,
    trust: Trust = False,
    as_json: Json = False,
) -> None:
    """Check a release against its card: files, rows, criteria, budget, recipe. Exit code 3: faults, 4: not all is checkable."""
    from hushtable.pipeline.verify import verify as verify_release

    found = verify_release(folder, key, trust=trust)
    if as_json:
        print_json({"folder": str(folder)} | verification_json(found))
    else:
        show_verification(found, str(folder), signed=key is not None)
    if found.faults:
        raise typer.Exit(3)
    if found.unchecked:
        raise typer.Exit(UNCHECKED)


@app.command()
def keys(
    name: Annotated[Path, typer.Option("--out", help="Where to: NAME.key (private) and NAME.pub.", show_default=False)],
    locked: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase to lock the private key with; HUSHTABLE_PASSPHRASE if set.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a pair of keys: the private one signs releases, the public one lets others see that they are yours."""
    from hushtable.pipeline.signature import PASSPHRASE, make_keys

    passphrase = os.environ.get(PASSPHRASE, "")
    if locked and not passphrase:
        passphrase = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    private, public = make_keys(name, passphrase)
    if as_json:
        print_json({"private": str(private), "public": str(public), "locked": bool(passphrase)})
        return
    out.print(f"[bold]{escape(str(private))}[/bold] signs: keep it. [bold]{escape(str(public))}[/bold] is for everybody.")


@app.command()
def sign(
    folder: Annotated[Path, typer.Argument(help="A release folder.", show_default=False)],
    key: Annotated[Path, typer.Option(help="Your private key.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Sign a release that was made before: card.sig, over the card and through its hashes over all files."""
    import hushtable as ht

    made = ht.sign(folder, _signing_key(key))
    if as_json:
        print_json({"folder": str(folder), "signature": str(made)})
        return
    out.print(f"[bold]{escape(str(made))}[/bold]: others check it with 'hush verify --key' and your public key.")


app.command()(attacking.study)


@app.command()
def check(target: Annotated[str, typer.Argument(help="module:Class", show_default=False)], as_json: Json = False) -> None:
    """Run the contract battery on a step or an audit of your own."""
    from hushtable.checks import check as run_battery
    from hushtable.pipeline.registry import load

    verdicts = run_battery(load(target))
    failed = [v for v in verdicts if not v.passed]
    if as_json:
        print_json({"class": target, "passed": not failed, "checks": [{"asks": v.asks, "wrong": v.wrong} for v in verdicts]})
    else:
        for verdict in verdicts:
            mark = "[green]ok[/green]" if verdict.passed else "[red]x [/red]"
            out.print(f"{mark} {escape(verdict.asks)}" + (f": [bold]{escape(verdict.wrong)}[/bold]" if verdict.wrong else ""))
        out.print(f"{len(verdicts) - len(failed)} of {len(verdicts)} checks passed")
    if failed:
        raise typer.Exit(3)


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Protect a sensitive table, prove what was promised, and attack the result."""
    if show:
        out.print(__version__)
        raise typer.Exit


def _signing_key(path: Path) -> SigningKey:
    from hushtable.pipeline.signature import SigningKey

    return SigningKey.load(path, lambda: str(typer.prompt(f"Passphrase of {path.name}", hide_input=True, err=True)))


def _require_method(recipe: str | None, several: list[str], epsilon: float | None, plain: bool) -> None:
    """One way to make the release, and for the best of several a budget and no knobs, which some of them might not have."""
    if (recipe is None) == (not several):
        raise InputError("name a recipe, or several with --best-of, and not both", where="--recipe")
    if several and epsilon is None:
        raise InputError("needs --epsilon: the budget of the release and of the choice together", where="--best-of")
    if several and not plain:
        raise InputError("takes no --set, --unproven or --learn-domain; give recipe files with their knobs", where="--best-of")


def _require_form(form: str) -> None:
    if form not in ("csv", "csv.gz", "parquet"):
        raise InputError(f"expected csv, csv.gz or parquet, got {form!r}", where="--format")


if __name__ == "__main__":
    main()
