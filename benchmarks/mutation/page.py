"""The page of results: shares by room, equivalent mutants with the reason, survivors."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from mutation.bench import EXAMPLES
from mutation.drawing import SEED, Mutant
from mutation.rooms import ROOMS

EQUIVALENT = Path(__file__).with_name("equivalent.toml")


def equivalents() -> dict[tuple[str, str, str], str]:
    """Return the changes that no test can find, and why."""
    entries = tomllib.loads(EQUIVALENT.read_text())["equivalent"] if EQUIVALENT.exists() else []
    return {(entry["module"], entry["before"], entry["after"]): entry["why"] for entry in entries}


def table(results: dict[Mutant, bool]) -> str:
    """Return the results as a page."""
    why = equivalents()
    lines = [*introduction(), *shares(results, why)]
    if missing := [room for room in ROOMS if room not in {mutant.room for mutant in results}]:
        lines += ["", f"Not run yet: {', '.join(missing)}."]
    alive = sorted(mutant for mutant, killed in results.items() if not killed)
    lines += listed("Equivalent", [mutant for mutant in alive if mutant.change in why], why)
    lines += listed("Survived", [mutant for mutant in alive if mutant.change not in why], why)
    return "\n".join(lines) + "\n"


def introduction() -> list[str]:
    """Return the introduction of the page."""
    return [
        "# Mutation tests",
        "",
        f"Written by `make mutants` ({datetime.now(UTC):%Y-%m-%d}). A mutant is a module with one small change made by",
        "[cosmic-ray](https://cosmic-ray.readthedocs.io); it is killed if a test of the same room fails. This is",
        f"a sample drawn with seed {SEED}: one in each module and one for each place in the code before any has a",
        "second; modules that hold nothing to change have none. Property tests draw",
        f"{EXAMPLES} examples here, 50 in `make test` and 100 in CI. An equivalent mutant does what the module does,",
        "so no test can kill it; the share leaves these out. Tests were added for what had survived, so the share",
        "says how much of this sample is left; in a fresh one it would be lower.",
        "",
    ]


def shares(results: dict[Mutant, bool], why: dict[tuple[str, str, str], str]) -> Iterator[str]:
    """Yield the table of rooms."""
    yield "| room | modules | mutants | killed | equivalent | survived | killed of those that could be |"
    yield "|---|---|---|---|---|---|---|"
    for room in ROOMS:
        if mine := [mutant for mutant in results if mutant.room == room]:
            modules = f"{len({mutant.module for mutant in mine})} of {len(ROOMS[room].paths())}"
            killed = sum(results[mutant] for mutant in mine)
            same = sum(not results[mutant] and mutant.change in why for mutant in mine)
            share = killed / max(1, len(mine) - same)
            counts = (room, modules, len(mine), killed, same, len(mine) - killed - same, f"{share:.1%}")
            yield f"| {' | '.join(map(str, counts))} |"


def listed(title: str, mutants: list[Mutant], why: dict[tuple[str, str, str], str]) -> Iterator[str]:
    """Yield a section with a row for each mutant."""
    if mutants:
        yield from ("", f"## {title}", "", "| where | line | mutant | why |", "|---|---|---|---|")
    for one in mutants:
        where, reason = f"{one.module}:{one.line}", why.get(one.change, "")
        yield f"| {where} | {cell(one.before)} | {cell(one.after)} | {reason} |"


def cell(text: str) -> str:
    """Return code for a table."""
    return f"`{text}`".replace("|", "\\|") if text else "(removed)"
