"""A run: inputs, a model and a job -> an output folder in which every part is done once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import cast

from nestag.corpora.format import Options
from nestag.corpora.segment import segments
from nestag.errors import InputError
from nestag.scale.addresses import find_input_files
from nestag.scale.cluster import Cluster, connected
from nestag.scale.job import Job
from nestag.scale.manifest import Claim, claim, refuse_inside, refuse_private
from nestag.scale.model import pack
from nestag.scale.outcome import DONE, Done, read_done
from nestag.scale.plan import Part, plan_parts
from nestag.scale.storage import Folder, opened
from nestag.scale.summary import Totals, total_weight

TotalsCallback = Callable[[Totals], None]

READERS = 16
"""Files that say what is done which are read at the same time."""


@dataclass(frozen=True)
class Finished:
    """What a run has done."""

    totals: Totals
    left: int  # files of other kinds that lie beside the inputs

    @property
    def complete(self) -> bool:
        """Whether every part is done."""
        return not self.totals.failures


def tag(
    source: str,
    out: str,
    model: str,
    job: Job | None = None,
    cluster: Cluster | None = None,
    *,
    verify: bool = False,
    watch: TotalsCallback | None = None,
) -> Finished:
    """Tag every row of the inputs; the same call again goes on where a run was stopped.

    `verify` reads the parts that are done and compares their hashes; otherwise their sizes are compared.
    """
    chosen, folder = job or Job(), Folder(out)
    refuse_private(source, out)
    refuse_inside(source, out)
    inputs = find_input_files(source, chosen.kind, out)
    packed = pack(model, chosen.changes)
    if chosen.language is not None and not chosen.tokens:
        segments("a", chosen.options_for(Options()))  # one that there is not is refused before OUT is begun with it
    with connected(cluster or Cluster(), packed) as connection:
        chosen = chosen.on(connection.device(chosen, packed))
        plan = plan_parts(inputs, chosen)
        claim(folder, Claim(packed.hash, chosen, inputs.kind, plan.schema, inputs.files))
        leftovers = folder.leftovers()
        done = parts_done(plan.parts, folder, chosen, verify)
        waiting = {part.name: part for part in plan.parts if part.name not in done}
        totals = Totals(len(plan.parts), total_weight(plan.parts), failures=list(plan.failures))
        for part in plan.parts:
            if part.name in done:
                totals.skip(part, done[part.name])
        if waiting:
            totals.workers = connection.workers(chosen, packed, len(waiting))
            for outcome in connection.run(list(waiting.values()), chosen, packed, folder):
                if outcome.stop:
                    raise InputError(f"{outcome.stop}; then the same command goes on where it stopped", "worker")
                totals.add(waiting[outcome.name], outcome)
                if watch:
                    watch(totals)
    for path in leftovers:  # of processes that were killed before this run began
        with suppress(OSError):
            path.unlink()
    return Finished(totals, inputs.left)


def parts_done(parts: Sequence[Part], out: Folder, job: Job, verify: bool = False) -> dict[str, Done]:
    """The parts that are done: they are marked, and their outputs are there with the size or hash that is said."""
    marked, sizes = out.sizes(DONE), out.sizes()
    names = [part.name for part in parts if f"{part.name}.json" in marked]
    with ThreadPoolExecutor(READERS) as pool:
        found = list(pool.map(lambda name: read_done(out, name), names))
        kept = [
            (name, done)
            for name, done in zip(names, found, strict=True)
            if sizes.get(f"{name}.{job.form}") == done.size
        ]
        if verify:
            hashes = pool.map(lambda pair: _sha256(out, f"{pair[0]}.{job.form}"), kept)
            kept = [pair for pair, value in zip(kept, hashes, strict=True) if pair[1].sha256 == value]
    return dict(kept)


def _sha256(out: Folder, name: str) -> str:
    with opened(out.at(name)) as stream:
        return hashlib.file_digest(cast(BytesIO, stream), "sha256").hexdigest()
