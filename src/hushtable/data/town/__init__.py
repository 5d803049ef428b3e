"""The demo's town: how the people of the bundled table are drawn, census first, then health; ``data.people`` puts them together."""
