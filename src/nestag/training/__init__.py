"""Training: a corpus and a recipe -> a recognizer, saved in a folder.

`run` starts and finishes a training run in a `run_folder`. `recipe` has its settings, `plan` derives the numbers of a
run from them and the corpus, and `duration` estimates its time. `dataset` makes batches. `trainer` is a Trainer of
transformers with our `optimization` and `checkpoints`, and `graphs` speeds it up on a GPU. `calibration` fits
confidences and the threshold of spans. `display` shows progress, `card` writes the model card, and `advice` helps if
the model did not learn. `adaptation` continues pretraining an encoder. `distillation` trains a student of other models.
"""
