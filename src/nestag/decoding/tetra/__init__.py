"""The decoder of 4tg."""

from nestag.decoding.arrays import Floats
from nestag.decoding.decoder import Decoder, decodes
from nestag.decoding.entities import EntityTable, entities_of
from nestag.decoding.scores import LabelBatch, Scores, Search, best_labels
from nestag.decoding.spans import rate_entities
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
        nodes = legal_nodes(scores, self.vocabulary, settings)
        return entities_of(self.chains, nodes, best_labels(scores.u), scores.lengths)

    def probabilities(self, scores: Scores, table: EntityTable, settings: Search) -> Floats:
        """How probable each entity is, over all legal labels."""
        members = self.chains.c.members(len(self.chains.types))
        return rate_entities(
            self.chains, scores, table, lambda spans: rate_spans(self.vocabulary, members, scores, spans, settings)
        )
