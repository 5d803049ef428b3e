"""Commands that put a release, or the audits themselves, to the test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from hushtable.cli.console import out, print_json, print_report, progress, show_audit, show_mechanism
from hushtable.cli.options import Data, Json, Person, Trust, formats_of, settings_of
from hushtable.errors import InputError


def audit(
    train: Annotated[Path, typer.Option(help="The rows the release was made from.", show_default=False)],
    released: Annotated[Path, typer.Option("--release", help="A release folder, or a data file.", show_default=False)],
    control: Annotated[
        Path, typer.Option(help="Rows of the same kind that the release never saw ('hush release --hold-out').", show_default=False)
    ],
    schema_file: Annotated[Path, typer.Option("--schema", help="The schema of the training rows.", show_default=False)],
    folder: Annotated[Path, typer.Option("--out", help="A new folder for the audit. It is private.", show_default=False)],
    person: Person = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this audit ('hush methods' lists them). May be repeated.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A knob of an audit: linkability.neighbours=1,10.")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="How the release was made: a recipe, for attacks that make it again.", show_default=False)
    ] = None,
    trust: Trust = False,
    epsilon: Annotated[float | None, typer.Option(help="The budget that recipe spends.", show_default=False)] = None,
    power: Annotated[bool, typer.Option("--power", help="Plant leaks, and say which ones this audit would notice.")] = False,
    gates: Annotated[
        list[str] | None,
        typer.Option("--gate", help="What must hold, by upper bounds: max_risk<0.05; or by the card: k>=10. Exit code 3 if not."),
    ] = None,
    values: Annotated[
        bool, typer.Option("--show-values", help="Show values of the records at risk in the report; hidden otherwise.")
    ] = False,
    form: Annotated[str, typer.Option("--format", help="Pages besides audit.json, with commas: html, md.")] = "html",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    as_json: Json = False,
) -> None:
    """Attack a release and measure what it is good for: audit.json and audit.html in a new, private folder."""
    import hushtable as ht
    from hushtable.table.disk import refuse_existing
    from hushtable.table.io import read
    from hushtable.table.schema import Schema

    refuse_existing(folder, private=True)
    formats = formats_of(form)
    if train.exists() and control.exists() and train.samefile(control):
        raise InputError("is the same file as --train; a control holds people that the release never saw", where="--control")
    # A domain that was read off other rows does not bind these.
    written = Schema.load(schema_file)
    if any(column.generalized for column in written):
        raise InputError("is the schema of a release; give that of the training rows", where="--schema")
    declared = written.undrafted()
    tables = read(train, declared), read(control, declared)
    seen, card = ht.read_release(released, tables[0].schema)
    if epsilon is not None and recipe is None:
        raise InputError("tells what a recipe spends; name the recipe with --recipe", where="--epsilon")
    with progress(quiet=as_json) as tell:
        report = ht.audit(
            tables[0], seen, tables[1], person=person, only=only or (), settings=settings_of(settings or []), recipe=recipe,
            trust=trust,
            epsilon=epsilon, card=card, seed=seed, power=power, values=values, gates=gates or (), progress=tell,
        )  # fmt: skip
    report.save(folder, formats)
    if as_json:
        print_report(report, str(folder))
    else:
        show_audit(report, str(folder))
    if report.void or not all(gate.holds for gate in report.gates):
        raise typer.Exit(3)


def certify(
    data: Data,
    schema_file: Annotated[Path, typer.Option("--schema", help="The schema of the table.", show_default=False)],
    folder: Annotated[
        Path, typer.Option("--out", help="A folder for the study; one that was stopped goes on. It is private.", show_default=False)
    ],
    models: Annotated[
        str,
        typer.Option(
            help="Risk models, with commas: leaky, noisy, overfit, size, outliers, knobs, handful, partial, rare, digests, texts; "
            "all if empty."
        ),
    ] = "",
    person: Person = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this audit ('hush methods' lists them). May be repeated.")] = None,
    rows: Annotated[int | None, typer.Option(min=2, help="Rows of each of the three parts at most.", show_default="10,000")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer levels and settings.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the study.")] = 0,
    as_json: Json = False,
) -> None:
    """Try the audits themselves on your table: leaks of known size are planted, and each metric must rise with them."""
    from hushtable.api import certify as study
    from hushtable.table.io import read

    table = read(data, schema_file).held_by(person)
    chosen = [model.strip() for model in models.split(",") if model.strip()]
    with progress(quiet=as_json) as tell:
        made = study.certify(
            table, models=chosen, audits=study.privacy_audits(only or ()), rows=rows, seed=seed, folder=folder, quick=quick,
            progress=tell,
        )  # fmt: skip
    if as_json:
        print_json({"folder": str(folder)} | made.to_json())
        return
    print(made.text())  # noqa: T201 - wide lines, not to be wrapped
    out.print(f"The curves are in [bold]{escape(str(folder))}/certificate.html[/bold]. They were computed from raw rows.")


def study(
    name: Annotated[
        str, typer.Argument(help="manifold (classifiers), frechet (clusters), clustmix (mixtures) or generators (by epsilon).")
    ],
    data: Annotated[Path | None, typer.Option(help="The folder of real tables; HUSHTABLE_DATA when absent.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="A new folder for text and figures; clustmix or generators that was stopped goes on."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The small data sets only, or few of the rows.")] = False,
    runs: Annotated[int | None, typer.Option(min=1, help="Runs of clustmix or generators.", show_default="3, quick 1")] = None,
) -> None:
    """Repeat a published study, its numbers beside ours. Takes minutes; generators, unless quick, hours."""
    from hushtable.studies import clustmix as clustmix_study
    from hushtable.studies import frechet as frechet_study
    from hushtable.studies import generators as generator_study
    from hushtable.studies import manifold as manifold_study
    from hushtable.table.disk import refuse_existing, whole_folder

    if name not in ("manifold", "frechet", "clustmix", "generators"):
        raise InputError(f"expected manifold, frechet, clustmix or generators, got {name!r}", where="study")
    resumed = {"clustmix": clustmix_study, "generators": generator_study}.get(name)
    if runs is not None and resumed is None:
        raise InputError("is for the studies clustmix and generators", where="--runs")
    if folder is not None and resumed is None:
        refuse_existing(folder)
    with progress(quiet=False) as tell:
        if resumed is not None:
            scope = resumed.QUICK if quick else resumed.FULL
            told = resumed.run(folder, tell, data=data, scope=replace(scope, runs=runs or scope.runs))
        elif name == "frechet":
            told = frechet_study.run(folder, tell, quick=quick)
        else:
            told = manifold_study.text(manifold_study.run(data, tell, quick=quick))
            if folder is not None:
                with whole_folder(folder) as partial:
                    (partial / "study.txt").write_text(told, encoding="utf-8")
    print(told)  # noqa: T201 - wide lines, not to be wrapped


def audit_mechanism(
    recipe: Annotated[str, typer.Argument(help="A recipe by name ('hush methods') or a recipe file.", show_default=False)],
    epsilon: Annotated[
        float | None, typer.Option(help="The epsilon that is spent, or claimed, and tested.", show_default=False)
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Its delta; 1e-6 when absent, 0 for pure privacy.", show_default=False)
    ] = None,
    relation: Annotated[
        str | None, typer.Option(help="add_remove or replace_one; what the recipe is proven for when absent.", show_default=False)
    ] = None,
    canaries: Annotated[
        list[str] | None,
        typer.Option("--canary", help="One of the canaries ('corner', 'bound', ...); all when absent. May be repeated."),
    ] = None,
    runs: Annotated[str, typer.Option(help="Runs in each world, or auto: as many as a minute for a canary allows.")] = "auto",
    one_run: Annotated[bool, typer.Option("--one-run", help="Many canaries in three runs instead: for slow recipes.")] = False,
    learn_domain: Annotated[
        bool, typer.Option("--learn-domain", help="With a first step that learns undeclared kinds and domains.")
    ] = False,
    settings: Annotated[list[str] | None, typer.Option("--set", help="A knob: k=10, or step.knob=value. May be repeated.")] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="A folder for mechanism.json and a page; an audit that was stopped goes on.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the audit reproducible, its noise included.")] = None,
    as_json: Json = False,
) -> None:
    """Try to refute the epsilon of a recipe, on tables made for it: it needs no data. Exit code 3 if it is refuted."""
    from hushtable.api.mechanism import audit_mechanism as run_audit
    from hushtable.pipeline.recipe import load

    if runs != "auto" and not runs.isdigit():
        raise InputError(f"expected a number or auto, got {runs!r}", where="--runs")
    with progress(quiet=as_json) as tell:
        report = run_audit(
            load(recipe).set(settings_of(settings or [])), epsilon=epsilon, delta=delta, relation=relation, canaries=canaries or (),
            runs=None if runs == "auto" else int(runs), one_run=one_run, learn_domain=learn_domain, seed=seed,
            folder=folder, progress=tell,
        )  # fmt: skip
    if as_json:
        print_json(report.to_json() | {"folder": str(folder) if folder else None})
    else:
        show_mechanism(report.told, str(folder) if folder else None)
    if report.refuted:
        raise typer.Exit(3)
