"""What the name of a column alone gives away about it. Names stand in the header and are public; nothing here reads a row."""

from __future__ import annotations

import re

WHO = re.compile(
    r"(^|_)(((first|last|full|sur|fore|middle|maiden|nick|given|family|patient|user|vor|nach)_?)?names?|e_?mail|mail|"
    r"(tele|cell|mobile)?_?phone|telefon|mobile|tel|fax|address|adresse|addr|street|ssn|mrn|nhs|pesel|iban)"
    r"(_?(number|num|no|nr|address|line))*_?\d*$"
)
"""Who somebody is or how to reach them, as the last word of a name ("home phone", not "phone service")."""
THING = re.compile(
    r"(^|_)(product|brand|drug|medicine|hospital|clinic|ward|department|company|school|course|team|city|town|county|state|region|"
    r"country|gene|test|study|trial|item|category|class|group|model|species|event|job|file|column|variable)_?names?_?\d*$"
)
SPOKEN = re.compile(r"(^|_)(notes?|comments?|remarks?|descriptions?|text|free_?text|memo|narrative)_?\d*$")
IDENTIFIER = re.compile(
    r"(^|_)(id|uuid|guid|ssn|mrn|nhs|pesel|iban|e?mail|phone|mobile|tel|address|street|passport|licen[cs]e|"
    r"(first|last|full|sur|given|family|patient|user)_?name|name)($|_)"
)
QUASI = re.compile(
    r"(^|_)(age|sex|gender|race|ethnic\w*|zip(_?codes?)?\d*|post(al|(al)?_?codes?)\d*|plz|city|town|county|district|"
    r"region|state|country|place|birth\w*|dob|yob|born|marital\w*|marriage|edu|educ\w*|occupation|profession|job|nationality|native\w*|"
    r"household\w*|family|relationship|workclass|socprof|employ\w*|citizen\w*|admission|discharge|industry|nativity|ancestry|"
    r"province|canton|municipality|commune|borough|parish|tract|neighbou?rhood|latitude|longitude|lat|lon|lng)($|_)"
    # The codes of censuses, which are names only where nothing else stands beside them.
    r"|^(agep|puma\w*|rac\w{0,3}p|msp|hisp|schl|st|pobp|cit|citwp|occp|indp|indp_cat|socp|naicsp|relp|relshipp|statefip|countyfip|"
    r"marst\w*|maritl|bpl|hispan|numprec)$"
)
CODE = re.compile(r"(^|_)(zip(_?code)?|post(al)?_?code\w*|postal|plz|fips|icd\w*|icpc|naics|isco\w*|soc_code)($|_)")
"""Whole numbers under these names are codes: their sums and means say nothing."""
SECRET = re.compile(
    r"(^|_)(income|salary|wage|wealth|debt|diagnos\w*|disease|icd\w*|hiv|cancer|depress\w*|alc|alcohol\w*|drug\w*|smok\w*|medic\w*|"
    r"religion|party|vote|crime|conviction|credit\w*|default\w*|charges?|limit_bal|mortality|severity|outcome)($|_)"
)


def matches(name: str, pattern: re.Pattern[str]) -> bool:
    """Whether a name, in whatever way its words are joined, holds a word of the pattern."""
    return bool(pattern.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\s.\-]+", "_", name).lower()))


def names_people(name: str) -> bool:
    """Whether a column of this name says who somebody is: a name, not the name of a thing."""
    return matches(name, WHO) and not matches(name, THING)


def held_back(name: str) -> bool:
    """Whether a column of this name is left out of a release where nobody has said what it is."""
    return names_people(name) or matches(name, SPOKEN) or (matches(name, IDENTIFIER) and not matches(name, THING))
