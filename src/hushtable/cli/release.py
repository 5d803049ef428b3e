"""Make a release of a table by a recipe."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

import hushtable as ht
from hushtable.cli.console import out, print_json, progress, show_guarantee, warn_of_epsilon
from hushtable.cli.options import (
    AllowCopies,
    Data,
    Delimiter,
    Encoding,
    Engine,
    Header,
    Index,
    Json,
    LearnDomain,
    Memory,
    Names,
    Person,
    RowsPerPerson,
    SchemaFile,
    Seed,
    StepSettings,
    TableFormat,
    Workers,
    WorkFolder,
    compute_of,
    names_of,
    settings_of,
)
from hushtable.cli.sign import passphrase_of
from hushtable.display import listed
from hushtable.errors import InputError
from hushtable.privacy.unit import Relation
from hushtable.table.layout import Layout

if TYPE_CHECKING:
    from hushtable.api.release import ReleaseRequest, SavedRelease


def release(
    data: Data,
    schema_file: SchemaFile,
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the release.", show_default=False)],
    recipe: Annotated[
        str | None, typer.Option(help="A recipe by name ('hush methods') or a recipe file.", show_default=False)
    ] = None,
    best_of: Annotated[
        str | None,
        typer.Option(
            help="Instead of --recipe: private recipes, with commas. The best is released; --epsilon pays for the choice too."
        ),
    ] = None,
    settings: StepSettings = None,
    target: Annotated[
        str | None, typer.Option(help="The column that the release is made for; short for --set target=COLUMN.", show_default=False)
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Privacy budget of the whole release.")] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="Its delta; 1e-6 when absent (1e-9 where the schema declares a size above 100,000), 0 for pure privacy."),
    ] = None,
    rows: Annotated[int | None, typer.Option(help="Rows to synthesize.")] = None,
    person: Person = None,
    rows_per_person: RowsPerPerson = 1,
    relation: Annotated[
        str, typer.Option(help="Neighbours: add_remove (the number of rows is private) or replace_one (it is public).")
    ] = "add_remove",
    hold_out: Annotated[float | None, typer.Option(help="Set this share of the rows aside as the control, in OUT.private.")] = None,
    form: TableFormat = None,
    unproven: Annotated[
        bool,
        typer.Option("--unproven", help="Release even if steps read rows unprotected, so that epsilon is infinite."),
    ] = False,
    learn_domain: LearnDomain = False,
    allow_copies: AllowCopies = None,
    signed: Annotated[Path | None, typer.Option("--sign", help="Your private key ('hush keys'), to sign the card with.")] = None,
    title: Annotated[str, typer.Option(help="What the data is called, on the card; else what the schema says.")] = "",
    contact: Annotated[str, typer.Option(help="Whom to ask about it, on the card.")] = "",
    licence: Annotated[str, typer.Option("--licence", "--license", help="Its terms of use, on the card.")] = "",
    purpose: Annotated[str, typer.Option(help="What it is for, on the card.")] = "",
    model: Annotated[
        Path | None,
        typer.Option("--save-model", help="A new file for the fitted model; 'hush draw' draws further rows from it."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="A private folder that keeps what was trained or paid for: the same command goes on after a stop.",
            metavar="DIR",
            show_default=False,
        ),
    ] = None,
    seed: Seed = None,
    engine: Engine = "auto",
    memory: Memory = None,
    workers: Workers = None,
    work: WorkFolder = None,
    header: Header = None,
    names: Names = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    index: Index = False,
    as_json: Json = False,
) -> None:
    """Make a release: data, card.json, card.html, recipe.yaml and schema.yaml in a new folder."""
    if relation not in list(Relation):
        raise InputError(f"expected add_remove or replace_one, got {relation!r}", where="--relation")
    request = ht.ReleaseRequest(
        data=data,
        schema=schema_file,
        folder=folder,
        recipe=recipe,
        best_of=tuple(names_of(best_of)),
        settings=settings_of(settings) | ({"target": target} if target else {}),
        options=ht.ReleaseOptions(
            epsilon=epsilon,
            delta=delta,
            unit=ht.Unit(relation=Relation(relation), rows=rows_per_person, by=person),
            rows=rows,
            seed=seed,
            unproven=unproven,
            learn_domain=learn_domain,
            allow_copies=allow_copies,
            resume=resume,
        ),
        hold_out=hold_out,
        form=form,
        sign=signed,
        model=model,
        title=title,
        contact=contact,
        licence=licence,
        purpose=purpose,
        layout=Layout.of(header, names, encoding, delimiter, None, index),
        compute=compute_of(engine, memory, workers, work),
    )
    warn_of_epsilon(epsilon)
    with progress("release", _after_stop(request)) as update:
        saved = ht.release_to_folder(request, passphrase=passphrase_of(signed), progress=update)
    if as_json:
        print_json(saved.to_json())
    else:
        _show(saved, schema_file, resume)


def _after_stop(request: ReleaseRequest) -> str:
    """What an interrupt leaves, and how to go on."""
    if request.options.resume is not None:
        kept = "what was trained" if request.options.epsilon is None else "what was paid for"
        return f"nothing was released; {kept} is kept in {request.options.resume}: the same command goes on from there"
    if request.options.epsilon is not None:
        return "nothing was released; the same command starts anew (with --resume DIR it goes on without paying again)"
    return "nothing was released; with --resume DIR the training of a network goes on where it was stopped"


def _show(saved: SavedRelease, schema_file: Path, resume: Path | None) -> None:
    """What was left out, the guarantee, what the steps note, where everything is, and how to attack it."""
    # The start of the command line waits for no table, no attack and no compiled code.
    from hushtable.privacy.guarantee import Assurance

    release, unit = saved.release, saved.release.guarantee.unit
    if unused := saved.train_rows - saved.used_rows:
        out.print(
            f"{unused:,} of {saved.train_rows:,} training rows were not used: at most {unit.rows} of each {escape(str(unit.by))}"
        )
    if saved.ignored:
        out.print(f"Left out, because the schema does not name them: {escape(', '.join(saved.ignored))}")
    if release.dropped:
        out.print(f"Left out, because they identify people or are free text: {escape(', '.join(release.dropped))}")
    show_guarantee(release)
    for count in saved.suppressed_rows:
        out.print(f"{count:,} of {saved.used_rows:,} rows were suppressed")
    for note in saved.notes:
        out.print(f"[yellow]Caution:[/yellow] {escape(note)}.")
    out.print(f"{saved.rows:,} rows in [bold]{escape(str(saved.folder))}[/bold]: {', '.join(saved.files)}")
    if lacking := [name for name in ("title", "contact", "licence") if name not in release.leaves[0].about]:
        entries, options = (listed([form.format(name) for name in lacking]) for form in ("{}:", "--{}"))
        out.print(f"The card lacks {listed(lacking)}: write {entries} at the top of the schema, or give {options}.")
    if saved.model is not None:
        out.print(f"The fitted model is [bold]{escape(str(saved.model))}[/bold]. Draw further rows from it with 'hush draw'.")
        if release.guarantee.assurance is not Assurance.PROVEN:
            out.print("[yellow]For you alone:[/yellow] the model has no proof and is as sensitive as the rows: do not share it.")
    if resume is not None:
        out.print(f"[yellow]For you alone:[/yellow] {escape(str(resume))} holds what the run kept: delete it, or keep it private.")
    if saved.private is not None:
        # Files, or folders of parts.
        files = [f"--{name}={path}" for name in ("train", "control") for path in saved.private.glob(f"{name}*")]
        person = [] if unit.by is None else [f"--person={unit.by}"]
        audit = [*files, f"--release={saved.folder}", f"--schema={schema_file}", *person, f"--out={saved.folder}.audit"]
        out.print(
            f"Training and control rows are in [bold]{escape(str(saved.private))}[/bold] (private). Attack the release with:\n"
            + escape(f"  {shlex.join(['hush', 'audit', *audit])}")
        )
