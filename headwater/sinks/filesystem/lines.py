"""A file of text in pieces, each a list of whole rows.

a,"two
lines"          one row of CSV
b,one           another
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from headwater.formats.encode_csv import CsvText

BLOCK_BYTES = 4 * 1024 * 1024


def lines_of(file: BinaryIO) -> Iterator[list[bytes]]:
    """The lines of a file, without their ends."""
    rest = b""
    while block := file.read(BLOCK_BYTES):
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield lines


def records_of(file: BinaryIO, form: CsvText) -> Iterator[list[bytes]]:
    """The rows of a CSV file, without their ends; one with the end of a line within quotes stays whole."""
    quote = form.quote.encode()
    pair = re.compile(re.escape(form.escape.encode()) + b".", re.DOTALL) if form.escape else None
    open_lines: list[bytes] = []
    is_open = False
    for lines in lines_of(file):
        if not is_open and not any(quote in line for line in lines):
            yield lines
            continue
        whole: list[bytes] = []
        for line in lines:
            bare = pair.sub(b"", line) if pair is not None else line
            is_open ^= bare.count(quote) % 2 == 1
            open_lines.append(line)
            if not is_open:
                whole.append(b"\n".join(open_lines))
                open_lines = []
        if whole:
            yield whole
