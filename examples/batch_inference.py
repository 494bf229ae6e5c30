"""Tag a large text file, one text per line, and write one JSON record per line.

    python examples/batch_inference.py MODEL texts.txt entities.jsonl

Lines are read, tagged and written in a stream, so memory does not grow with the file. `nestag batch` does the same for
many files, on several cores or a cluster, and can resume.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import nestag


def lines(path: str) -> Iterator[str]:
    """Yield the lines of a file that are not empty."""
    with open(path, encoding="utf-8") as stream:
        yield from (line.rstrip("\n") for line in stream if line.strip())


def main(model: str, source: str, target: str) -> None:
    """Write the entities of each line."""
    ner = nestag.load(model)
    count = 0
    with Path(target).open("w", encoding="utf-8") as stream:
        for entities in ner.pipe(lines(source), batch_size=1000):
            record = {"text": entities.text, "entities": [entity.record() for entity in entities]}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += len(entities)
    print(f"{count:,} entities in {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
