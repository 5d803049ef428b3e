"""What must you be able to say? Three questions pick a few recipes; one is set, tried and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hushtable.report.html import Child, Html, element, join, pairs
from hushtable.studio import commands
from hushtable.studio.forms import Form
from hushtable.studio.jobs import State
from hushtable.studio.parts import button, field, form, select, switch
from hushtable.studio.screens.recipe_run import settings
from hushtable.studio.screens.recipe_setup import chosen_best, chosen_recipe
from hushtable.studio.screens.recipe_state import LOADING, USUAL, answers, badge, to_run, unit_of
from hushtable.studio.screens.recipe_trial import to_declare, tried
from hushtable.studio.view import Mark, Screen, Shown, View
from hushtable.studio.words import recipe as said

ANSWERS = {"leaves": said.LEAVES_WORDS, "values": said.VALUES_WORDS, "use": said.USE_WORDS}


async def show(view: View) -> Shown:
    """The questions, what fits them, all others, and how the chosen one is set."""
    own = answers(view)
    fitting = await view.ask("shortlist", limit=LOADING, **own)
    name = str(to_run(view).get("recipe") or "")
    setup: Html | None = None
    if to_run(view).get("best_of"):
        setup = await chosen_best(view)
    elif name:
        setup = await chosen_recipe(view, name)
    content = join(_questions(view, own), _shortlist(view, fitting, name), await _all(view, name), setup)
    return Shown(content, await _command(view, name))


async def _command(view: View, name: str) -> Sequence[str]:
    if not name:
        return ("hush", "methods")
    run = to_run(view)
    if run.get("best_of"):
        own = {
            "schema": str(view.workspace.schema), "folder": "release", "best_of": run["best_of"],
            "options": run | {"unit": unit_of(view)},
        }  # fmt: skip
        return commands.release(view.workspace, own)
    return commands.preflight(view.workspace, name, run.get("settings") or {}, run.get("epsilon"), unit_of(view))


def _questions(view: View, own: Mapping[str, str]) -> Html:
    roles = view.workspace.roles()
    targets = [("", said.NO_TARGET), *((name, name) for name, role in roles.items() if role != "identifier")]
    heads = {"leaves": said.LEAVES, "values": said.VALUES, "use": said.USE}
    inner = [switch(view, key, heads[key], ANSWERS[key], own[key], data_submit=True) for key in ANSWERS]
    target = select(view, "target", said.TARGET, targets, own["target"], hint=said.TARGET_HINT, data_submit=True)
    return form(view, "answer", inner, target, button(said.ANSWER), region="content", class_="fields questions")


def _shortlist(view: View, fitting: Mapping[str, Any], name: str) -> Html:
    cards = [_card(view, one, name) for one in fitting["chosen"]]
    learning = {one["recipe"]: one["learns"] for one in fitting["chosen"] if one["learns"]}
    # Of the one that is chosen it is said where it is set.
    learns = next(iter(learning.values()), ()) if name not in learning else ()
    left = [element("li", element("strong", recipe), f": {why}.") for recipe, why in fitting["left_out"].items()]
    return element(
        "section",
        element("h2", said.SHORTLIST),
        element("p", said.learns(learns), " ", element("a", said.TO_COLUMNS, href=to_declare(view)), class_="caution")
        if learns
        else None,
        element("p", said.PROVEN, class_="soft") if any(one["assurance"] == "proven" for one in fitting["chosen"]) else None,
        element("div", cards, class_="shortlist") if cards else element("p", said.NOTHING_FITS, class_="lead"),
        element("p", element("a", said.TO_COMPARE, href=view.to("compare", new=1))) if len(cards) > 1 else None,
        element("details", element("summary", said.LEFT_OUT), element("ul", left)) if left else None,
        id="shortlist",
    )


def _card(view: View, one: Mapping[str, Any], name: str) -> Html:
    seconds = _last(view, one["recipe"])
    facts: list[tuple[Child, Child]] = [
        (said.PROMISE, one["promise"]),
        (said.HAPPENS, one["values"]),
        (said.TIME, said.usual_time(one["seconds"]) if seconds is None else said.last_time(seconds)),
    ]
    when = pairs([(said.TAKE_IT, one["use"][0]), (said.LOOK_ELSEWHERE, one["avoid"][0])])
    return element(
        "article",
        element("h3", one["title"]),
        element("p", element("code", one["recipe"]), " ", badge(one["assurance"])),
        pairs(facts),
        element("details", element("summary", said.WHEN), when),
        _choose(view, one["recipe"], name),
        class_="card chosen" if one["recipe"] == name else "card",
    )


def _choose(view: View, recipe: str, name: str, where: str = "choose") -> Html:
    # Both have one id, so that the focus stays where it was when one takes the place of the other.
    own = f"{where}-{recipe}"
    if recipe == name:
        setup = element("a", said.TO_SETUP, href="#setup") if where == "choose" else None
        return element("p", element("strong", f"✓ {said.CHOSEN}", id=own, tabindex=-1), " ", setup)
    hidden = element("input", type="hidden", name="recipe", value=recipe)
    return form(view, "choose", hidden, button(said.CHOOSE, about=recipe, id=own), region="content", class_="inline")


def _last(view: View, recipe: str) -> float | None:
    """How long the last release by it took on this table."""
    jobs = view.studio.jobs.latest() if view.studio.jobs is not None else ()
    return next((job.elapsed for job in jobs if (job.verb, job.like, job.state) == ("release", recipe, State.DONE)), None)


async def _all(view: View, name: str) -> Html:
    query = view.query.get("q", "")
    families = await view.ask("recipes", limit=LOADING)
    found = [
        (family["family"], [one for one in family["recipes"] if said.matches(one, query)]) for family in families
    ]  # fmt: skip
    count = sum(len(members) for _, members in found)
    search = form(
        view, "search",
        field(view, "q", said.SEARCH, query, hint=said.SEARCH_HINT, kind="search", data_live=True), button(said.FIND),
        region="all-recipes", class_="fields",
    )  # fmt: skip
    groups = [
        element("section", element("h3", family), element("ul", [_line(view, one, name) for one in members], class_="recipes"))
        for family, members in found
        if members
    ]
    results = element(
        "div", element("p", said.found(count, query) if count else said.NOTHING_FOUND, class_="soft", role="status"), groups,
        id="all-recipes",
    )  # fmt: skip
    return element("details", element("summary", said.ALL), search, results, open=bool(query), class_="all-recipes")


def _line(view: View, one: Mapping[str, Any], name: str) -> Html:
    head = [element("strong", one["title"]), " ", element("code", one["name"]), " ", badge(one["assurance"])]
    texts = [element("span", text, class_="why") for text in (one["guarantee"], one["values"]) if text]
    return element("li", element("div", head, texts), _choose(view, one["name"], name, "pick"))


async def answer(view: View, sent: Form) -> str:
    """Keep the answers; what fits follows from them."""
    roles = view.workspace.roles()
    found = {key: sent.one_of(key, [own for own, _ in options], USUAL[key]) for key, options in ANSWERS.items()}
    target = sent.one_of("target", ["", *roles], "")
    sent.check()
    view.workspace.choose("recipe", {**found, "target": target})
    view.journal(said.answered(**found, target=target))
    return view.to("recipe")


async def choose(view: View, sent: Form) -> str:
    """Choose a recipe, as it comes."""
    name = sent.text("recipe", required=said.NO_RECIPE)
    sent.check()
    found = await view.ask("knobs", limit=LOADING, recipe=name)
    run = to_run(view)
    choices: dict[str, Any] = {key: run[key] for key in ("seed", "hold_out", "domains", "epsilon") if key in run}
    if found["about"]["spends"]:
        choices["epsilon"] = choices.get("epsilon") or 1.0
    view.workspace.choose("run", {**choices, "recipe": name, "settings": {}})
    view.journal(said.chosen(name), command=("hush", "methods", name))
    return view.to("recipe")


async def search(view: View, sent: Form) -> str:
    """Show the recipes that have these words."""
    return view.to("recipe", q=sent.text("q")[:80])


def mark(view: View) -> Mark:
    """Done once a recipe is chosen."""
    return Mark.DONE if to_run(view).get("recipe") else Mark.TODO


SCREEN = Screen(
    name="recipe",
    label=said.LABEL,
    question=said.QUESTION,
    show=show,
    actions={"answer": answer, "choose": choose, "search": search, "settings": settings},
    pieces={"tried": tried},
    mark=mark,
)
