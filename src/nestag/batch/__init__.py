"""Batch inference: files of rows -> the same rows with their entities, on a Ray cluster and exactly once.

    inputs -> plan of parts -> workers, each tags whole parts -> one output file for each part

A part is a run of row groups of a Parquet file, or a range of bytes of a file of lines. The name and the bytes of its
output depend only on the part, the model and the settings, and the output is written completely or not at all. So after
any crash, the same command ends with the bytes that one undisturbed run would have written.
"""

from nestag.batch.plan import Job
from nestag.batch.run import Totals, tag

__all__ = ["Job", "Totals", "tag"]
