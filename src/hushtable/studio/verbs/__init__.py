"""What a job can do: one file a verb, a function of the request, the folder it works for, and progress. It returns plain values."""

VERBS = {
    "answer": "hushtable.studio.verbs.answer:answer",
    "release": "hushtable.studio.verbs.release:release",
    "audit": "hushtable.studio.verbs.audit:audit",
    "publish": "hushtable.studio.verbs.publish:publish",
    "check": "hushtable.studio.verbs.publish:check",
    "best_levels": "hushtable.studio.verbs.best_levels:best_levels",
    "preflight": "hushtable.studio.verbs.preflight:preflight",
    "compare": "hushtable.studio.verbs.compare:compare",
}
"""The verbs by name; each is imported in the process of its job alone."""
