"""Scale: files of rows in, the same rows with their entities out, on a cluster and exactly once.

    inputs -> plan of parts -> Ray's workers, each tags whole parts -> one output file for each part

A part is a run of row groups of a Parquet file, or a range of bytes of a file of lines. The name and the bytes of its
output depend on the part, the model and the settings alone, and the output appears whole or not at all. So whatever is
killed, the same command again ends in the bytes that one undisturbed run would have written.
"""

from nestag.batch.plan import Job
from nestag.batch.run import Finished, tag

__all__ = ["Finished", "Job", "tag"]
