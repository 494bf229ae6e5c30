"""What legal decoding gains over greedy decoding, model by model: both decode the same weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nestag.lab.experiment.result import Result
from nestag.lab.paper.lines import ModelLine, TableLayout, one_by_one
from nestag.lab.paper.means import mean_of
from nestag.lab.paper.runs import in_order
from nestag.tables import Figure, Row, Table

SPLITS = ("dev", "test")
EVERY = "all corpora"
MEASURES = ("models", *(f"{split} {what}" for split in SPLITS for what in ("gain", "smallest", "largest")))
SIGNED = "+.2f"


def gains_table(results: Sequence[Result]) -> Table:
    """A section for each corpus, and one for all of them if there are several."""
    both = [result for result in results if any(gain(result, split) is not None for split in SPLITS)]
    corpora = sorted({result.key.corpus for result in both})
    note = (
        "F1 of legal decoding less that of greedy decoding of the same model, in points: mean ± sample deviation over"
        " models, the smallest and the largest. The epoch of each model was chosen on dev, so dev favours the decoding"
        " it was chosen by; trust test."
    )
    layout = TableLayout("Gain in F1 of legal over greedy decoding", ("encoding",), MEASURES, note)
    return one_by_one(layout, [*corpora, EVERY] if len(corpora) > 1 else corpora, _lines(both, corpora))


def _lines(results: Sequence[Result], corpora: Sequence[str]) -> Iterable[ModelLine]:
    for encoder, recipe in sorted({(result.key.encoder, result.key.recipe) for result in results}):
        same = [result for result in results if (result.key.encoder, result.key.recipe) == (encoder, recipe)]
        for encoding in in_order(result.key.encoding for result in same):
            models = [result for result in same if result.key.encoding == encoding]
            parts = {corpus: [result for result in models if result.key.corpus == corpus] for corpus in corpora}
            cells = {corpus: _row(part) for corpus, part in parts.items() if part}
            if len(cells) > 1:
                cells[EVERY] = _row(models)
            yield ModelLine(f"{encoder}, {recipe}", (encoding,), cells, ours=True)


def _row(results: Sequence[Result]) -> Row:
    cells = [cell for split in SPLITS for cell in _spread([gain(result, split) for result in results])]
    return (len(results), *cells)


def _spread(gains: Iterable[float | None]) -> tuple[Figure | None, ...]:
    known = [gain for gain in gains if gain is not None]
    if not known:
        return (None, None, None)
    ends = (Figure(100 * end, form=SIGNED) for end in (min(known), max(known)))
    return (mean_of(known, len(known), SIGNED), *ends)


def gain(result: Result, split: str) -> float | None:
    """What legal decoding adds to the F1 of a model, None unless it was decoded both ways."""
    found = result.evaluations.get(split, {})
    if "legal" not in found or "greedy" not in found:
        return None
    return found["legal"].overall.f1 - found["greedy"].overall.f1
