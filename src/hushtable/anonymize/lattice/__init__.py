"""The lattice of generalizations: its nodes, what they lose, what they keep, and the search for the best one."""
