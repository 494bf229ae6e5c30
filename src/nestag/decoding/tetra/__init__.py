"""The decoder of 4tg."""

from nestag.arrays import Floats
from nestag.decoding.candidates import best_words, rated_entities, rated_table
from nestag.decoding.decoder import Decoder, decodes
from nestag.decoding.entities import EntityTable, entities_of, replaced
from nestag.decoding.scores import LabelBatch, Scores, Search
from nestag.decoding.spans import rate_entities
from nestag.decoding.tetra.exact import joint_nodes
from nestag.decoding.tetra.marginals import node_shares
from nestag.decoding.tetra.names import legal_nodes
from nestag.decoding.tetra.probabilities import rate_spans
from nestag.decoding.tetra.repair import repaired_nodes
from nestag.encodings.base import Naming
from nestag.encodings.tetra import TetraTagging


@decodes(TetraTagging)
class TetraDecoder(Decoder[TetraTagging]):
    """Decodes the marks of words and gaps."""

    def repair(self, labels: LabelBatch, naming: Naming) -> EntityTable:
        """The entities that any labels describe; every node has one name, so `naming` changes nothing."""
        return entities_of(self.chains, repaired_nodes(self.vocabulary, labels), labels.u, labels.lengths)

    def search(self, scores: Scores, settings: Search) -> EntityTable:
        """The entities of the best legal labels."""
        nodes, path = legal_nodes(scores, self.vocabulary, settings)
        if path is not None and not (settled := path.settled(scores.lengths)).all():
            others = joint_nodes(scores, ~settled, path, self.vocabulary, settings.deepest)
            nodes = replaced(nodes, others, scores.lengths)
        return entities_of(self.chains, nodes, best_words(self.chains, scores), scores.lengths)

    def probabilities(self, scores: Scores, table: EntityTable, settings: Search) -> Floats:
        """How probable each entity is: its marginal, or as probabilities.py says."""
        if settings.pooling == "exact":
            return rated_entities(self.chains, scores, node_shares(self.vocabulary, scores, settings.deepest), table)
        members = self.chains.c.members(len(self.chains.types))
        return rate_entities(
            self.chains, scores, table, lambda spans: rate_spans(self.vocabulary, members, scores, spans, settings)
        )

    def candidates(self, scores: Scores, settings: Search, floor: float) -> EntityTable:
        """The entities of all label sequences that the encoding can write, by their probability among these."""
        nodes = node_shares(self.vocabulary, scores, settings.deepest)
        return rated_table(self.chains, scores, nodes, floor)
