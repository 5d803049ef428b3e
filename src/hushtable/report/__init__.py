"""Two pages: the public card of a release, and the private audit. Pure functions of plain values; nothing is fetched."""
