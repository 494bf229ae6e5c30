"""Scores of a batch -> entities: the labels that each head likes best, or the best labels that make sense together.

`greedy` is the paper: the best label of each head at each word, then the repair rules of batch.py. `legal` searches
the best among the labels that an encoding could have written: legal.py for depths, legal_tetra.py for `4tg`.
How probable each entity is, confidence.py says.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from nestag.decoding.batch import decode_flat
from nestag.decoding.entities import EntityTable, as_table
from nestag.decoding.legal import Named, legal_nodes
from nestag.decoding.scores import Scores, Search
from nestag.decoding.tables import tables_of
from nestag.encodings import encoding
from nestag.encodings.base import Naming
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import TetraTagging
from nestag.errors import UnknownNameError
from nestag.vocabulary import Vocabulary
