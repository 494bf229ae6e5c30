"""The gain of constrained decoding over both greedy ones, with the same weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nestag.inspect.tables import Figure, Row, Table
from nestag_lab.experiment.result import RunResult
from nestag_lab.experiment.spec import GREEDY
from nestag_lab.paper.lines import ModelLine, TableLayout, one_by_one
from nestag_lab.paper.runs import in_order, mean_of

SPLITS = ("dev", "test")
ALL_CORPORA = "all corpora"
MEASURES = ("models", *(f"{split} {what}" for split in SPLITS for what in ("gain", "smallest", "largest")))
SIGNED = "+.2f"


def gains_table(results: Sequence[RunResult]) -> Table:
    """Return a section for each corpus, and one for all of them if there are several."""
    corpora = sorted({result.key.corpus for result in results if gains_known(result)})
    note = (
        "F1 of constrained decoding minus F1 of greedy decoding of the same model, in points: mean ± sample deviation"
        " over models, the smallest and the largest. greedy-first keeps the first label of a node, as in the paper's"
        " text. greedy-majority keeps the most frequent one, as in the paper's code. The best epoch was chosen on dev"
        " with one of the decodings, so compare on test."
    )
    layout = TableLayout("Gain in F1 of constrained over greedy decoding", ("encoding", "over"), MEASURES, note)
    lines = [line for over in GREEDY for line in _lines([one for one in results if _known(one, over)], corpora, over)]
    return one_by_one(layout, [*corpora, ALL_CORPORA] if len(corpora) > 1 else corpora, lines)


def gains_known(result: RunResult) -> bool:
    """Return whether a model has scores for constrained and greedy decoding."""
    return any(_known(result, over) for over in GREEDY)


def _known(result: RunResult, over: str) -> bool:
    return any(gain(result, split, over) is not None for split in SPLITS)


def _lines(results: Sequence[RunResult], corpora: Sequence[str], over: str) -> Iterable[ModelLine]:
    for encoder, recipe in sorted({(result.key.encoder, result.key.recipe) for result in results}):
        same = [result for result in results if (result.key.encoder, result.key.recipe) == (encoder, recipe)]
        for encoding in in_order(result.key.encoding for result in same):
            models = [result for result in same if result.key.encoding == encoding]
            parts = {corpus: [result for result in models if result.key.corpus == corpus] for corpus in corpora}
            cells = {corpus: _row(part, over) for corpus, part in parts.items() if part}
            if len(cells) > 1:
                cells[ALL_CORPORA] = _row(models, over)
            yield ModelLine(f"{encoder}, {recipe}", (encoding, over), cells, ours=True)


def _row(results: Sequence[RunResult], over: str) -> Row:
    cells = [cell for split in SPLITS for cell in _spread([gain(result, split, over) for result in results])]
    return (len(results), *cells)


def _spread(gains: Iterable[float | None]) -> tuple[Figure | None, ...]:
    known = [gain for gain in gains if gain is not None]
    if not known:
        return (None, None, None)
    ends = (Figure(100 * end, form=SIGNED) for end in (min(known), max(known)))
    return (mean_of(known, len(known), SIGNED), *ends)


def gain(result: RunResult, split: str, over: str) -> float | None:
    """Return the gain in F1 of constrained decoding over another way; None if one of them is missing."""
    found = result.evaluations.get(split, {})
    if "constrained" not in found or over not in found:
        return None
    return found["constrained"].overall.f1 - found[over].overall.f1
