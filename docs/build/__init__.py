"""Makes the documentation site: pages written by hand, pages read off the code, a picture of every recipe."""
