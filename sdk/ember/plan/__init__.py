"""A program and its selection become a plan: an address for every byte on a board."""
