"""Names to classes, without importing anything until it is asked for.

Other packages add theirs through entry points in the groups ``hushtable.steps`` and ``hushtable.audits``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from hushtable.display import meant
from hushtable.errors import InputError

STEPS = {
    "bins": "hushtable.encode.bins:Bins",
    "digits": "hushtable.encode.digits:Digits",
    "ranks": "hushtable.encode.ranks:Ranks",
    "modes": "hushtable.encode.modes:Modes",
    "coarse": "hushtable.encode.coarse:Coarse",
    "learn-domain": "hushtable.encode.learn_domain:LearnDomain",
    "determined": "hushtable.encode.determined:Determined",
    "embed": "hushtable.encode.embed:Embed",
    "embed-decoded": "hushtable.encode.embed_decoded:EmbedDecoded",
    "generalize": "hushtable.anonymize.lattice.generalize:Generalize",
    "microaggregate": "hushtable.anonymize.microaggregate.microaggregate:Microaggregate",
    "geodesic": "hushtable.anonymize.microaggregate.geodesic:Geodesic",
    "sample": "hushtable.anonymize.sample:Sample",
    "safe": "hushtable.anonymize.private.safe:Safe",
    "beta-k-eps": "hushtable.anonymize.published.beta_k_eps:BetaKEps",
    "blocks": "hushtable.anonymize.private.blocks:Blocks",
    "ranking": "hushtable.anonymize.private.ranking:Ranking",
    "mondrian": "hushtable.anonymize.recoding.mondrian:Mondrian",
    "suppress": "hushtable.anonymize.recoding.suppress:Suppress",
    "noise": "hushtable.anonymize.masking.noise:Noise",
    "rank-swap": "hushtable.anonymize.masking.swap:RankSwap",
    "swap": "hushtable.anonymize.masking.swap:Swap",
    "pram": "hushtable.anonymize.masking.pram:Pram",
    "redact": "hushtable.anonymize.masking.redact:Redact",
    "transition": "hushtable.anonymize.transition.transition:Transition",
    "frechet": "hushtable.anonymize.private.frechet:Frechet",
    "autoregressive-private": "hushtable.synthesize.neural.autoregressive_private:PrivateAutoregressive",
    "margins": "hushtable.synthesize.marginal.independent:Margins",
    "mst": "hushtable.synthesize.marginal.mst:Mst",
    "aim": "hushtable.synthesize.marginal.aim:Aim",
    "privsyn": "hushtable.synthesize.marginal.privsyn:PrivSyn",
    "best": "hushtable.synthesize.best:Best",
    "gan": "hushtable.synthesize.neural.gan.gan:Gan",
    "vae": "hushtable.synthesize.neural.vae:Vae",
    "diffusion": "hushtable.synthesize.neural.diffusion:Diffusion",
    "sequential": "hushtable.synthesize.sequential.sequential:Sequential",
    "autoregressive": "hushtable.synthesize.neural.autoregressive:Autoregressive",
    "transformer": "hushtable.synthesize.neural.transformer:Transformer",
    "clustmix-certified": "hushtable.synthesize.mixture.clustmix_certified:ClustMixCertified",
    "dpmix": "hushtable.synthesize.mixture.dpmix:DPMix",
    "dp-merf": "hushtable.synthesize.mixture.merf:DPMerf",
    "thresholded": "hushtable.synthesize.marginal.thresholded:Thresholded",
    "clustmix": "hushtable.synthesize.published.clustmix:ClustMix",
    "gaussian-copula": "hushtable.synthesize.copula.gaussian:PlainCopula",
    "kendall-copula": "hushtable.synthesize.copula.kendall:KendallCopula",
    "likelihood-copula": "hushtable.synthesize.copula.likelihood:LikelihoodCopula",
    "marginal-copula": "hushtable.synthesize.copula.marginals:MarginalCopula",
    "hybrid-copula": "hushtable.synthesize.copula.hybrid:HybridCopula",
    "hybrid-copula-published": "hushtable.synthesize.published.dpcopula_hybrid:PublishedHybrid",
    "copula-shirley": "hushtable.synthesize.published.copula_shirley:CopulaShirley",
    "vine": "hushtable.synthesize.copula.vine_certified:Vine",
    "mwem": "hushtable.synthesize.marginal.mwem:Mwem",
    "field-groups": "hushtable.synthesize.marginal.field_groups:FieldGroups",
    "gan-published": "hushtable.synthesize.neural.gan.published:PublishedGan",
    "pate-published": "hushtable.synthesize.neural.gan.pate_published:PatePublished",
    "private-gan": "hushtable.synthesize.neural.gan.private:PrivateGan",
    "pate": "hushtable.synthesize.neural.gan.pate:Pate",
    "privbayes": "hushtable.synthesize.network.privbayes:PrivBayes",
    "topics": "hushtable.language.topics:Topics",
    "write-text": "hushtable.language.write_text:WriteText",
    "text-votes": "hushtable.language.votes:TextVotes",
    "mask-fill": "hushtable.language.fill:MaskFill",
    "mask-fill-published": "hushtable.language.fill_published:PublishedMaskFill",
    "privbayes-published": "hushtable.synthesize.network.privbayes_published:PrivBayesPublished",
    "classify-text": "hushtable.language.classify:ClassifyText",
    "distill-text": "hushtable.language.distill:DistillText",
    "classify-text-published": "hushtable.language.classify_published:PublishedLora",
    "distill-text-published": "hushtable.language.classify_published:PublishedDistillation",
}
AUDITS = {
    "identical-matches": "hushtable.audits.indicators:IdenticalMatches",
    "unique-matches": "hushtable.audits.unique_matches:UniqueMatches",
    "closest-record": "hushtable.audits.indicators:ClosestRecord",
    "k-nearest": "hushtable.audits.indicators:KNearest",
    "near-matches": "hushtable.audits.nearness:NearMatches",
    "distance-ratio": "hushtable.audits.nearness:DistanceRatio",
    "identifiers": "hushtable.audits.identifiers:PublishedIdentifiers",
    "text-verbatim": "hushtable.audits.text.verbatim:VerbatimTexts",
    "text-patterns": "hushtable.audits.text.patterns:TextPatterns",
    "text-nearest": "hushtable.audits.text.nearest:NearestTexts",
    "text-membership": "hushtable.audits.text.membership:TextMembership",
    "exposed-records": "hushtable.audits.exposed:ExposedRecords",
    "rare-values": "hushtable.audits.rare:RareValues",
    "reconstruction": "hushtable.audits.reconstruction:Reconstruction",
    "properties": "hushtable.audits.properties:Properties",
    "control-seen": "hushtable.audits.sanity:ControlSeen",
    "coverage": "hushtable.audits.sanity:Coverage",
    "membership": "hushtable.audits.membership:Membership",
    "shadow-membership": "hushtable.audits.shadow:ShadowMembership",
    "shadow-inference": "hushtable.audits.shadow:ShadowInference",
    "canaries": "hushtable.audits.canaries:Canaries",
    "text-canaries": "hushtable.audits.text.canaries:TextCanaries",
    "exposure": "hushtable.audits.text.exposure:Exposure",
    "injected-points": "hushtable.audits.canaries:InjectedPoints",
    "singling-out": "hushtable.audits.singling_out:SinglingOut",
    "linkability": "hushtable.audits.linkability:Linkability",
    "inference": "hushtable.audits.inference:Inference",
    "attribution": "hushtable.audits.attribution:Attribution",
    "learned-inference": "hushtable.audits.learned_inference:LearnedInference",
    "contrastive-singling-out": "hushtable.audits.neural.outliers:ContrastiveSinglingOut",
    "contrastive-linkability": "hushtable.audits.neural.contrastive:ContrastiveLinkability",
    "contrastive-inference": "hushtable.audits.neural.contrastive:ContrastiveInference",
    "contrastive-closest-record": "hushtable.audits.neural.contrastive:ContrastiveClosestRecord",
    "domias-flow": "hushtable.audits.neural.domias:DomiasFlow",
    "margins": "hushtable.measures.margins:MarginDistances",
    "association": "hushtable.measures.dependence:Association",
    "rules": "hushtable.measures.rules:Rules",
    "downstream": "hushtable.measures.downstream:TrainOnRelease",
    "composite": "hushtable.measures.composite_audit:CompositeScore",
    "frechet-means": "hushtable.measures.frechet_means:FrechetMeans",
    "k-marginal": "hushtable.measures.kmarginal:KMarginal",
    "joint": "hushtable.measures.joint:Joint",
    "discriminator": "hushtable.measures.discriminator:Discriminator",
    "geometry": "hushtable.measures.geometry:Geometry",
    "queries": "hushtable.measures.queries:Queries",
    "losses": "hushtable.measures.losses:Losses",
    "groups": "hushtable.measures.groups:Groups",
    "text-downstream": "hushtable.measures.text.downstream:TextDownstream",
    "text-margins": "hushtable.measures.text.margins:TextMargins",
    "text-discriminator": "hushtable.measures.text.discriminator:TextDiscriminator",
    "text-bits": "hushtable.measures.text.bits:TextBits",
}


def steps() -> dict[str, str]:
    """Every known step: name to ``module:Class``."""
    return _with_plugins(STEPS, "hushtable.steps")


def audits() -> dict[str, str]:
    """Every known audit and utility metric."""
    return _with_plugins(AUDITS, "hushtable.audits")


def known(target: str) -> bool:
    """Whether ``module:Class`` is of this package, or of a module that registered a step: no other code is loaded for a file."""
    module = target.partition(":")[0]
    return module.startswith("hushtable.") or module in {own.partition(":")[0] for own in steps().values()}


def load(target: str) -> type:
    """The class behind ``module:Class``."""
    module, _, name = target.partition(":")
    if not name:
        raise InputError(f"expected module:Class, got {target!r}", where="plugin")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, NameError, SyntaxError, TypeError, ValueError) as error:
        raise InputError(f"cannot load {target!r}: {type(error).__name__}: {error}", where="plugin") from None
    if not isinstance(kind, type):
        raise InputError(f"{target!r} is not a class", where="plugin")
    return kind


def find(name: str, known: dict[str, str], what: str) -> type:
    """The class registered under a name, or the one that ``module:Class`` names."""
    if ":" in name:
        return load(name)
    if name not in known:
        raise InputError(f"there is no {what} {name!r}{meant(name, known)}; there are {', '.join(sorted(known))}", where=what)
    return load(known[name])


@cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    """What other packages have registered; they do not change while we run."""
    return tuple(entry_points(group=group))


def _with_plugins(own: dict[str, str], group: str) -> dict[str, str]:
    known = dict(own)
    for point in _points(group):
        if known.get(point.name, point.value) != point.value:
            raise InputError(f"{point.name!r} is registered twice: {known[point.name]} and {point.value}", where=group)
        known[point.name] = point.value
    return known
