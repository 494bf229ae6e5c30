"""The decoder of abs, rel and dyn."""

from nestag.arrays import Floats
from nestag.decoding.candidates import best_words, rated_entities, rated_table
from nestag.decoding.decoder import Decoder, decodes
from nestag.decoding.depth.exact import joint_nodes
from nestag.decoding.depth.machine import depth_machine
from nestag.decoding.depth.marginals import node_shares
from nestag.decoding.depth.probabilities import rate_spans
from nestag.decoding.depth.repair import depth_steps, repaired_nodes
from nestag.decoding.depth.search import legal_nodes
from nestag.decoding.entities import EntityTable, entities_of, replaced
from nestag.decoding.scores import LabelBatch, Scores, Search
from nestag.decoding.spans import rate_entities
from nestag.encodings.base import Naming
from nestag.encodings.depth import DepthEncoding


@decodes(DepthEncoding)
class DepthDecoder(Decoder[DepthEncoding]):
    """Decodes depths, however an encoding writes them."""

    def repair(self, labels: LabelBatch, naming: Naming) -> EntityTable:
        """The entities that any labels describe, by the paper's repair rules."""
        steps = depth_steps(self.encoding, self.vocabulary)
        nodes = repaired_nodes(steps, self.chains.c, labels, naming)
        return entities_of(self.chains, nodes, labels.u, labels.lengths)

    def search(self, scores: Scores, settings: Search) -> EntityTable:
        """The entities of the best legal labels."""
        machine = depth_machine(self.encoding, self.vocabulary, settings.deepest)
        nodes, settled, depths = legal_nodes(scores, machine, self.vocabulary, settings)
        if settings.joint and not settled.all():
            nodes = replaced(nodes, joint_nodes(scores, ~settled, depths, machine, self.vocabulary), scores.lengths)
        return entities_of(self.chains, nodes, best_words(self.chains, scores), scores.lengths)

    def probabilities(self, scores: Scores, table: EntityTable, settings: Search) -> Floats:
        """How probable each entity is: its marginal, or as probabilities.py says."""
        machine = depth_machine(self.encoding, self.vocabulary, settings.deepest)
        if settings.pooling == "exact":
            return rated_entities(self.chains, scores, node_shares(machine, self.vocabulary, scores), table)
        members = self.chains.c.members(len(self.chains.types))
        return rate_entities(
            self.chains, scores, table, lambda spans: rate_spans(machine, members, scores, spans, settings)
        )

    def candidates(self, scores: Scores, settings: Search, floor: float) -> EntityTable:
        """The entities of all label sequences that the encoding can write, by their probability among these."""
        machine = depth_machine(self.encoding, self.vocabulary, settings.deepest)
        return rated_table(self.chains, scores, node_shares(machine, self.vocabulary, scores), floor)
