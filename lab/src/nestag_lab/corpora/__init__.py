"""The paper's corpora from what their owners hand out: one file a corpus, each giving sentences and their split."""
