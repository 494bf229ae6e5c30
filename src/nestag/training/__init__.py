"""Training: a corpus and a recipe -> a recognizer, saved in a folder.

`run` starts and finishes a training run in a `run_folder`. `recipe` has its settings and `plan` what they mean for a
corpus. `dataset` makes batches, `trainer` is transformers' Trainer with our `optimization` and `checkpoints`, and
`graphs` speeds it up on a GPU. `calibration` fits confidences and the threshold of spans. `card` writes the model card,
`advice` says what to do if the model did not learn. `adaptation` continues pretraining an encoder.
"""
