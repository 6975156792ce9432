"""The texts of the rules, as data."""
