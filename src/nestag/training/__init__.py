"""Training: a corpus and a recipe -> a recognizer, saved in a folder.

`run` begins and ends a training run, `identity` tells it from others, `recipe` holds its settings, `plan` what they
mean for a corpus, `dataset` what is learned in which batches, `trainer` the loop (transformers' own), `optimizer` and
`average` how weights move, `checkpoints`, `folder` and `progress` where a run stands, `calibration` how sure it may be,
`verification` what its head for spans is worth, `advice` what to do if it did not learn, `card` what is written for
whoever finds the model.
"""
