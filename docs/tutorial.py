"""The tutorial: a notebook as a script. Open it in an editor that knows ``# %%`` cells, or run it as it is; it takes a minute."""

# %% [markdown]
# # Tutorial: a hospital shares a register
#
# You are the data steward of a town's hospital. A university asks for the register of patients, to study who comes back within
# thirty days of a discharge. You may share a table; you may not share people. This page goes the whole way: read, explore, release
# in three ways, attack, measure, compare, choose, publish.
#
# The register here is invented and comes with the package. It is made to be as awkward as a real one.

# %%
import hushtable as ht

register = ht.people(1500, seed=1)
register

# %% [markdown]
# ## 1. Look at what you have
#
# Your own table comes from a file or a data frame: `ht.read("patients.csv", "schema.yaml")`. The **schema** is public. It says
# what each column holds, what values there can be, and who could be recognized by what. `ht.draft(frame)` drafts one; you check
# it.
#
# In a notebook `ht.show(register)` shows the columns. It never shows rows.

# %%
ht.write(register, "patients.csv")
drafted = ht.draft("patients.csv")
for note in drafted.notes:
    print("-", note)

# %% [markdown]
# A domain that was read off the rows is itself information about people: only one person may have the rarest diagnosis. The
# bundled schema declares its domains, as yours should.

# %%
print("could be recognized by:", ", ".join(register.schema.quasi))
print("to be kept private:", ", ".join(register.schema.secrets))

# %% [markdown]
# Before anything is fitted, set some people aside. The release never sees them. They are the *control*: what an attack achieves on
# them, it achieves without the release.
#
# The seed is here so that you see the same numbers. Leave it out in earnest: a secret coin then decides for each person alone, and
# what is promised holds for the whole register, not only for those who were drawn.

# %%
train, control = ht.hold_out(register, 0.25, seed=1)
print(train.rows, "people in the table,", control.rows, "outside it")

# %% [markdown]
# ## 2. Release it three ways
#
# A **recipe** is a named chain of steps; `ht.methods()` lists them. We take one with a measured promise, one without any, and
# one with a proof. Knobs are named like arguments.

# %%
grouped = ht.release(train, "mdav", k=10, seed=1)
trees = ht.release(train, "sequential", seed=1)
private = ht.release(train, "mst", epsilon=1.0)
for release in (grouped, trees, private):
    print(release)

# %% [markdown]
# ## 3. Read the guarantee
#
# Every release says in plain words what holds, how we know, what it assumes, and what would break it. **Proven**, **verified**
# and **measured** are kept apart, here and everywhere.

# %%
print(private.guarantee.explain())

# %%
print(trees.guarantee.explain())

# %% [markdown]
# The proof does not come from our good intentions: every query to the rows is paid for and written in a ledger. Ask for a
# promise that cannot be kept, and nothing is released.

# %%
try:
    ht.release(train, "sequential", epsilon=1.0)
except ht.GuaranteeRefused as refused:
    print(refused)

# %% [markdown]
# ## 4. Attack it
#
# An audit attacks everybody in the table and everybody in the control, and counts the difference. Here are three of its
# attacks; without `only` it runs them all.

# %%
ATTACKS = ["linkability", "near-matches", "identical-matches"]
audits = {}
for release in (grouped, trees, private):
    audits[release.recipe.recipe] = ht.audit(train, release, control, only=ATTACKS, gates=["alarms<1"], seed=1)
    print(release.recipe.recipe, audits[release.recipe.recipe])

# %% [markdown]
# This is why a release is attacked. The first one keeps its promise: ten people share every combination of the columns that
# others may know. But its other columns left as they were, and whoever knows weight and blood pressure finds the person by
# *them*. The promise was true, and it was not enough.
#
# "No alarm" is never "safe": these attacks, on these rows, found no more than chance. With `power=True` the audit also says how
# small a leak it would have noticed.
#
# ## 5. What is it still good for?
#
# The university wants to predict who is readmitted. So train a model on the release, and test it on real people it has never
# seen.

# %%
for release in (grouped, trees, private):
    findings = ht.utility(train, release, control, target="readmitted", only=["margins", "downstream"], seed=1).frame()
    for name in ("mean TVD", "train on release, test on real: AUC"):
        line = findings[findings["name"] == name].iloc[0]
        print(f"{release.recipe.recipe}: {name} {line['value']:.3f}, for real rows {line['baseline']:.3f}")

# %% [markdown]
# A total variation distance is better when it is low, an AUC when it is high. Columns suffer most from the noise of the proof. Few
# people are readmitted, so an AUC on 375 people is uncertain: a comparison states its interval. How much utility a promise is worth
# is a trade that you decide on, and nobody can decide it for you.
#
# ## 6. Compare and choose
#
# `ht.compare` does all of this for a whole grid of recipes and knobs, ranks what meets your conditions, and says why.

# %%
compared = ht.compare(
    train,
    ["mdav", "mst"],
    target="readmitted",
    grid={"mdav.k": [5, 20]},
    epsilons=[1.0],
    constraints=["alarms<1"],
    workers=1,
    seed=1,
)
print(compared)

# %% [markdown]
# One warning is worth more than any ranking. Choosing a private recipe by looking at the private rows is itself a query to the
# rows, and nobody has paid for it. Choose on public or older data, name the recipe before you look, or pay for the choice
# (`--best-of`). A verified promise such as k-anonymity is measured on the release itself, so it does not mind how you chose.
#
# ## 7. Publish
#
# We had settled on the proof before we looked. Two folders come out of it, and they must never meet: one to share, and one to
# keep.

# %%
from pathlib import Path

ht.save(private, "to-share")
audits["mst"].save("to-keep")
print("to share:", ", ".join(sorted(path.name for path in Path("to-share").iterdir())))
print("to keep: ", ", ".join(sorted(path.name for path in Path("to-keep").iterdir())))

# %% [markdown]
# `card.html` is made for readers: what is promised, in plain words. The audit was computed from real rows and stays in the
# house. Anybody who has the folder can check it against its own card, without your rows:

# %%
print(ht.verify("to-share"))

# %% [markdown]
# Next: [choosing a release](choosing.md), [reading the report](report.md), [all methods](methods/index.md).
