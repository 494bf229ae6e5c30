"""The commands of the lab: each parses its arguments and calls one plain function."""
