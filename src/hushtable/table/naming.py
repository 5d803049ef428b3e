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
    r"(^|_)(age|alter|sex|gender|geschlecht|race|ethn\w*|hispan\w*|latin[oax]|black|white|non_?white|zip(_?codes?)?|post(al|(al)?_?codes?)|"
    r"plz|city|town|county|district|region|state|country|place|residen\w*|wohnort|urban\w*|rural|smsa|birth\w*|geburt\w*|dob|yob|born|"
    r"marital\w*|marriage|married|single|familienstand|edu|educ\w*|schooling|bildung|occupation|profession|beruf|job|nationality|"
    r"native\w*|household\w*|hh_?size|fam_?size|family|child(ren)?|kids\w*|kinder|dependents|relationship|workclass|socprof|employ\w*|"
    r"citizen\w*|admission|discharge|industry|nativity|ancestry|province|canton|municipality|commune|borough|parish|tract|"
    r"neighbou?rhood|latitude|longitude|lat|lon|lng)\d*($|_)"
    # The codes of censuses, which are names only where nothing else stands beside them.
    r"|^(agep|puma\w*|rac\w{0,3}p|msp|hisp|schl|st|pobp|cit|citwp|occp|indp|indp_cat|socp|naicsp|relp|relshipp|statefip|countyfip|"
    r"marst\w*|maritl|bpl|numprec)$"
)
PLACE = re.compile(
    r"(^|_)(zip(_?codes?)?\d*|zcta\d*|post(al)?_?codes?|postal|plz|fips|puma\d*|tract|block_?group|county|kreis|gemeinde|ags|nuts\d?|lsoa|"
    r"msoa|oa\d*|city|town|ort|wohnort|municipality|commune|district|borough|ward|region|province|state|country)($|_)"
)
"""Where somebody lives: who has almost no neighbours there is easily found, so it is never a key that is dropped without a word."""
CODE = re.compile(
    r"(^|_)(country|nation|nationality|state|bundesland|county|kreis|gemeinde|ags|nuts\d?|puma\d*|pobp|tract|msa|cbsa|zip(_?codes?)?\d*|"
    r"zcta\d*|post(al)?_?codes?\d*|postal|plz|fips|city|town|industry|indp?|naics\w*|sic|nace|occ(upation|p)?|soc(p|_code)?|isco\w*|kldb|beruf|"
    r"profession|diagnos[ei]s|diag|dx|icd\w*|icpc|m?s?drg|cpt|hcpcs|ndc|atc|loinc|snomed|procedure|proc|code|codes|type|typ|category|cat)"
    r"\d*($|_)"
)
"""Whole numbers under these names are codes, however many: their sums and means say nothing."""
FEW_CODES = re.compile(
    r"(^|_)(sex|gender|geschlecht|rac(e|1p|2p|3p)\w*|hisp\w*|ethnic\w*|marital\w*|marriage|married|mar|msp|marst|familienstand|religion|"
    r"konfession|citizen\w*|cit|nativity|language|lang|st|region|division|district|job|workclass|cow|esr|empstat|labforce|employment|mil|"
    r"dvet|vet|veteran|housing|tenure|ten|own(er)?|rent|hht|rel(p|shipp|ate|ationship)|mig|fer|hicov|insurance|payer|disability|dis|"
    r"d(ear|eye|out|phy|rat|rem)|month|monat|weekday|wochentag|dow|quarter|season|admission|discharge|admit|provider|ward|hospital|"
    r"department|dept|abteilung|purpose|reason|cause|channel|product|brand|currency|party|vote|species|cultivar|shift|class|klasse|"
    r"group|gruppe|status|kind|flag|indicator|label|cluster|method|mode|source|position|role)\d*($|_)"
)
"""The same where there are few of them; many values under these names may be amounts (a rent, an insurance)."""
SCALE = re.compile(
    r"(^|_)(severity|mortality|grade|level|stage|rank(ing)?|rating|stars|satisfaction|quality|condition|likert|agree\w*|edu|educ\w*|"
    r"schl|schooling|bildung|decile|quintile|quartile|tercile|class_?year|degree|likelihood|priority|urgency|asa|tumou?r_?stage)\d*($|_)"
)
"""Small whole numbers under these names are steps of a scale: ordered, and nothing lies between two of them."""
AMOUNT = re.compile(
    r"(^|_)(nums?|numbers?|counts?|cnt|nof|n|amounts?|amt|betrag|anzahl|total|sum|means?|avg|average|median|rate|ratio|share|pct|percent\w*|"
    r"scores?|index|age|agep|alter|years?|jahre?|yrs?|months|monate|weeks|days|tage|hours|stunden|minutes|seconds|duration|length|"
    r"size|groesse|height|weight|gewicht|bmi|income|einkommen|salary|wages?|earnings|gain|loss|price|preis|costs?|charges?|kosten|balance|"
    r"bal|limit|debt|distance|dist|pressure|temp\w*|values?|volume|area|width|depth|speed|quantity|qty|dependents|children|kinder|"
    r"pregnancies|visits|persons|population|error|probability|since|\w+[^s]s_per_\w+)\d*$"
)
"""What is counted or measured, as the last word of a name: the number of codes is a number."""
ORDERING = re.compile(r"(^|_)(nums?|numbers?|n|nof|cnt|counts?|index|total|values?)\d*$")
"""Words of an amount that may as well number the rows."""
COUNTED = re.compile(
    r"^(n|nr|no|num|number|count|anzahl|total|sum|mean|avg|max|min|how_many)_"
    r"|^(days|nights|weeks|months|years|hours|minutes|seconds)_(in|of|at|on|to|until|from|since|before|after|spent|with|without)_"
)
OUTCOME = re.compile(r"^(target|class|label|outcome|y|response|group|cluster)$")
DAY = re.compile(r"(^|_)(\w*date|\w*datum|dob|day|birth\w*|geb\w*|\w+_?dt|dt|when|timestamp|ts)\d*($|_)")
PERSONAL_ID = re.compile(
    r"(^|_)((patient|person|pers|pat|case|fall|record|customer|client|member|subject|user|respondent|resp|participant|student|pupil|"
    r"employee|household|haushalt|hh|family|fam|account|policy|claim|admission|stay|visit|encounter|row|index)_?"
    r"(id|ids|no|nr|num|number|key|code|seq)|id|ids|nr|seqn|individual|respondent|subject|uid|uuid|guid|pid|hhid|serial_?no|serial|case_?id|pseudonym|unnamed_\d+)\d*$"
)
"""Numbers that only tell one record, person or household from another, however many rows share them."""
PERSON = re.compile(
    r"(^|_)(patients?|patienten|pat|persons?|personen?|personal|pers|people|participants?|proband(en|in)?|teilnehmer(in)?|versicherten?|"
    r"insured|mitglieds?|members?|kunden?|customers?|clients?|klient(en)?|employees?|mitarbeiter|students?|pupils?|matrikel|subj(ect)?|"
    r"respondents?|vpn?|vn|who|cases?|fall|akten?)_?(codes?|kennung|kennzeichen|zeichen|nummer|number|num|no|nr|ref|key|token|pseudonym)?\d*$"
)
"""People, or their numbers, as the last words of a name ("patient", "proband_code", not "patient_group")."""
GOODS = re.compile(
    r"(^|_)(products?|produkte?|items?|articles?|artikel|art|sku|ean|gtin|isbn|asin|goods|materials?|mat|parts?|prod|prd|model|lots?|batch|"
    r"flights?|flt|flug|routes?|lines?|linien?|trains?|zug|bus|stops?|stations?|halte\w*|rooms?|zimmer|raum|beds?|bett|machines?|maschine|"
    r"devices?|geraet|sensors?|meters?|vehicles?|cars?|drugs?|medication\w*|medikament\w*|med|pzn|ops|areas?|zones?|dial\w*|vorwahl|prefix|"
    r"courses?|kurse?|modules?|exams?|shops?|stores?|filialen?|branch(es)?|outlets?|warehouses?|lager|suppliers?|vendors?|lieferant\w*|"
    r"schools?|schule|teams?|compan(y|ies)|firma|lsoa\d*|msoa\d*|units?_?codes?|iata|icao)_?"
    r"(codes?|ids?|nummer|numbers?|num|no|nr|ref|key|names?)?\d*($|_)"
)
"""What is sold, used or travelled by, and where: things and places that have numbers like people."""
HOUSEHOLD = re.compile(r"(^|_)((household|haushalt|hh|family|fam)_?(id|no|nr|num|number|key|seq)|hhid|serial_?no)\d*$")
WEIGHT = re.compile(
    r"(^|_)(fnlwgt|p?wgh?tp?\d*|perwt|hhwt|asecwt|wtfinl|finalwt|pweight|fweight|aweight|iweight|repwt\w*|wt|wts|hochrechnung\w*|gewichtung|"
    r"(survey|sample|sampling|design|final|person|household|hh|analysis|base|replicate|frequency|freq|post_?strat\w*|cross_?section\w*|"
    r"longitudinal)_?(weights?|wgts?|wts?))\d*($|_)"
)
"""How many people a row of a survey stands for."""
SECRET = re.compile(
    r"(^|_)(income|salary|wage|wealth|debt|diagnos\w*|disease|icd\w*|hiv|cancer|depress\w*|alc|alcohol\w*|drug\w*|smok\w*|medic\w*|"
    r"religion|party|vote|crime|conviction|credit\w*|default\w*|charges?|limit_bal|mortality|severity|outcome)($|_)"
)


def matches(name: str, pattern: re.Pattern[str]) -> bool:
    """Whether a name, in whatever way its words are joined, holds a word of the pattern."""
    # Capitals begin a word, unless there are nothing but capitals: patientId, but RAC1P.
    words = name if name.isupper() else re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    # A full stop at the end ends no word: Patient No.
    return bool(pattern.search(re.sub(r"[\s.\-:]+", "_", words.rstrip(" .:")).lower()))


def names_people(name: str) -> bool:
    """Whether a column of this name says who somebody is: a name, not the name of a thing."""
    return matches(name, WHO) and not matches(name, THING)


def held_back(name: str) -> bool:
    """Whether a column of this name is left out of a release where nobody has said what it is."""
    return names_people(name) or matches(name, SPOKEN) or (matches(name, IDENTIFIER) and not matches(name, THING))
