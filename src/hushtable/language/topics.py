"""Topics of texts as a column: the nearest of some public centres, so that a model of the table knows what its texts are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hushtable.errors import InputError
from hushtable.language.corpus import TOPIC, Corpus
from hushtable.language.models import READ_IN_PUBLIC, Sort, checkpoint
from hushtable.language.pool import public_texts
from hushtable.learn import network
from hushtable.pipeline.step import Arrays, Coder, Plan, check_knobs
from hushtable.privacy.allowance import Allowance
from hushtable.privacy.vault import Vault
from hushtable.table.arrays import Floats, Integers
from hushtable.table.columns import MISSING_CODE, Column, Kind, Levels
from hushtable.table.schema import Schema
from hushtable.table.table import Table

if TYPE_CHECKING:
    # It brings PyTorch with it.
    from hushtable.language.nets import Language

NET, PURPOSE = "hushtable.language.writing_net", "a model of language"
EACH = 8
"""Public texts for each topic."""
WORDS = 3
"""Words that a topic is named by."""
LENGTH = 48
"""Tokens of a public text that is written."""


@dataclass(frozen=True, kw_only=True)
class Topics(Coder):
    """For each column of free text a column with its topic: the nearest of ``topics`` centres, which are public.

    The centres are those of texts that the untouched model writes when it is asked for the levels that the schema declares, or of a
    file of public texts: no row is read to find them. The topic of a row follows from its own text alone, so one row changes one
    row; a missing text has a missing topic. The texts stay for the steps that read text, and the topics leave again at the end.
    """

    quick: ClassVar[dict[str, object]] = {"model": "smollm2", "topics": 2}
    extra: ClassVar[str] = "language"
    reads_text: ClassVar[bool] = True
    common: ClassVar[frozenset[str]] = frozenset({"model"})

    model: str = ""
    """The causal model that writes the public texts: a folder, or the name of an installed model."""
    topics: int = 48
    """How many there are for each text, at most."""
    encoder: str = ""
    """The encoder whose vectors decide which texts are near; without one, the embeddings of the causal model do."""
    public: str = ""
    """A file of public texts, one a line, instead of texts that the model writes."""

    def __post_init__(self) -> None:
        """Knobs in range."""
        check_knobs(self, topics=(2 <= self.topics <= 1000, "must be from 2 to 1000"))

    def plan(self, schema: Schema, budget: Allowance | None) -> Plan:
        """One more column for each text; refuses a model that cannot be loaded."""
        checkpoint(self.model, Sort.CAUSAL, "topics")
        if self.encoder:
            checkpoint(self.encoder, Sort.ENCODER, "topics")
        names = [f"topic {number}" for number in range(1, self.topics + 1)]
        made = schema.with_columns(*(_column(schema, name, names) for name in schema.texts))
        public = "the centres of topics, which come from public texts"
        return Plan(schema=made, stability=1, spans=True, public=(public,), caveats=(READ_IN_PUBLIC,))

    def fit(self, vault: Vault, rng: np.random.Generator) -> TopicCode:
        """Find the centres; the rows are not read."""
        module = network(NET, PURPOSE)
        writes = module.loaded(checkpoint(self.model, Sort.CAUSAL, "topics"))
        nets = network("hushtable.language.nets", PURPOSE)
        reads = nets.Language.load(checkpoint(self.encoder, Sort.ENCODER, "topics")) if self.encoder else writes
        found = {}
        names = vault.schema.texts
        for place, name in enumerate(names):
            corpus = Corpus(vault.schema, (name,), module.chats(writes))
            texts = self._public_texts(corpus, writes, rng, partial(_report, vault, place, len(names)))
            found[name] = _centres(reads.embedded(texts), texts, self.topics)
        return TopicCode(vault.schema, found, reads)

    def _public_texts(
        self, corpus: Corpus, language: Language, rng: np.random.Generator, report: Callable[[float], None]
    ) -> list[str]:
        count = EACH * self.topics
        if self.public:
            lines = public_texts(self.public, corpus.texts[0], "topics")
            if len(set(lines)) < 2 * self.topics:
                raise InputError(f"{self.public} has fewer than {2 * self.topics} different lines of text", where="topics")
            return [lines[place] for place in rng.permutation(len(lines))[: 10 * count]]
        writer = network("hushtable.language.write", PURPOSE).Writer(language=language, report=report)
        return [own.text.strip() for own in writer.write(corpus.public(count, rng), rng, LENGTH)]


@dataclass(frozen=True, eq=False)
class TopicCode:
    """Topics by nearest centre."""

    original: Schema
    centres: dict[str, tuple[Floats, tuple[str, ...]]]
    """For each text its centres, and what they are called."""
    language: Language | None = field(default=None, repr=False)
    """What embeds texts; None in a code that was read from a file, which only leads back."""
    stability: ClassVar[int] = 1

    @property
    def schema(self) -> Schema:
        """With the topics."""
        return self.original.with_columns(*(_column(self.original, name, words) for name, (_, words) in self.centres.items()))

    def topics(self, name: str, texts: Sequence[str]) -> Integers:
        """The number of the nearest centre of each text."""
        assert self.language is not None
        near: Floats = self.language.embedded(texts) @ self.centres[name][0].T
        nearest: Integers = np.argmax(near, axis=1).astype(np.int64)
        return nearest

    def apply(self, table: Table) -> Table:
        """Add the topic of each text; a table without texts stays as it is."""
        made = []
        for name in (name for name in self.centres if name in table.schema):
            words = table.words(name)
            codes = np.append(self.topics(name, [str(word) for word in words]), MISSING_CODE)
            column = _column(table.schema, name, self.centres[name][1])
            made.append((column, codes[table[name].astype(np.int64)].astype(column.dtype)))
        return table.with_columns(*made)

    def undo(self, table: Table, rng: np.random.Generator) -> Table:
        """Without topics, the columns in the order that they had."""
        return table.select(name for name in self.original.names if name in table.schema)

    def result(self) -> dict[str, Any]:
        """How many topics there are, and some of their names: all of it is public."""
        return {name: {"topics": len(words), "examples": list(words[:5])} for name, (_, words) in self.centres.items()}

    def parts(self) -> tuple[dict[str, Any], Arrays]:
        """What leads back: the columns, and the names of topics."""
        names = {name: list(words) for name, (_, words) in self.centres.items()}
        return {"schema": self.original.portable().dump(), "names": names}, {n: own for n, (own, _) in self.centres.items()}

    @classmethod
    def from_parts(cls, values: dict[str, Any], arrays: Arrays) -> Self:
        """Rebuild it."""
        return cls(Schema.parse(values["schema"]), {n: (arrays[n], tuple(words)) for n, words in values["names"].items()})


def _report(vault: Vault, before: int, texts: int, share: float) -> None:
    vault.report((before + share) / texts)


def _column(schema: Schema, name: str, names: Sequence[str]) -> Column:
    return Column(name=f"{name}{TOPIC}", kind=Kind.CATEGORY, domain=Levels(tuple(names)), required=schema[name].required)


def _centres(vectors: Floats, texts: Sequence[str], count: int) -> tuple[Floats, tuple[str, ...]]:
    """Unit vectors in the middle of groups of public texts, each with the words that set its group apart."""
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer

    count = min(count, len(np.unique(vectors, axis=0)))
    fitted = KMeans(count, n_init=1, random_state=0).fit(vectors)
    centres = fitted.cluster_centers_ / np.maximum(np.linalg.norm(fitted.cluster_centers_, axis=1, keepdims=True), 1e-12)
    weigh = TfidfVectorizer(stop_words="english", token_pattern=r"[^\W\d_]{3,}", max_features=5000)  # noqa: S106 - of words
    try:
        weights = weigh.fit_transform(texts)
    except ValueError:
        # Texts without a single word, as a model writes that never learnt any.
        return centres, tuple(f"topic {place + 1}" for place in range(count))
    vocabulary = weigh.get_feature_names_out()
    names: list[str] = []
    for place in range(count):
        sums = np.asarray(weights[fitted.labels_ == place].sum(axis=0)).ravel()
        name = " ".join(vocabulary[word] for word in np.argsort(-sums, kind="stable")[:WORDS] if sums[word] > 0)
        names.append(name if name and name not in names else f"{name or 'topic'} {place + 1}")
    return centres, tuple(names)
