"""QR codes (ISO/IEC 18004): a text as a square of dark and light modules, and that square as SVG.

Byte mode, error correction level M (up to 15 % of the codewords can be restored), versions 1 to 20: up to 666 bytes.
"""

import re
from functools import cache
from itertools import pairwise, product, zip_longest

__all__ = ["MAX_BYTES", "qr_code", "svg"]

Place = tuple[int, int]  # row, column

# For level M, version 1 first: codewords of error correction in a block, and blocks.
_CORRECTION = (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26)
_BLOCKS = (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16)
_MODE = 0b0100  # bytes
_LEVEL = 0b00  # M, in the format information
_QUIET = 4  # light modules around the square


def qr_code(text: str) -> list[str]:
    """Return the rows of the smallest code that holds a text, "1" for a dark module and "0" for a light one.

    Raises ValueError for a text of more than MAX_BYTES bytes in UTF-8.
    """
    data = text.encode("utf-8")
    version = next((v for v in range(1, len(_BLOCKS) + 1) if len(data) <= _capacity(v)), None)
    if version is None:
        raise ValueError(f"expected at most {MAX_BYTES} bytes, got {len(data)}")
    bits = "".join(f"{word:08b}" for word in _codewords(data, version))
    return min((_filled(bits, version, mask) for mask in range(8)), key=_penalty)


def svg(rows: list[str]) -> str:
    """Return a code as an image: black on white, one unit for each module, with the light zone that it needs around."""
    size = len(rows) + 2 * _QUIET
    runs = [(i, run) for i, row in enumerate(rows, _QUIET) for run in re.finditer("1+", row)]
    path = "".join(f"M{run.start() + _QUIET} {i}h{len(run[0])}v1h-{len(run[0])}z" for i, run in runs)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" shape-rendering="crispEdges">'
        f'<rect width="{size}" height="{size}" fill="white"/><path d="{path}"/></svg>'
    )


def _codewords(data: bytes, version: int) -> list[int]:
    """Return the codewords in the order in which they are placed: first data, then error correction."""
    wide, room = _length_bits(version), _data_codewords(version)
    bits = (_MODE << wide | len(data)) << 8 * len(data) | int.from_bytes(data)
    words = list((bits << 4).to_bytes((wide + 8) // 8 + len(data)))  # four zeros end the message
    words += [(0xEC, 0x11)[k % 2] for k in range(room - len(words))]
    short, longer = divmod(room, _BLOCKS[version - 1])  # the last blocks are one longer
    starts = [k * short + max(0, k - _BLOCKS[version - 1] + longer) for k in range(_BLOCKS[version - 1] + 1)]
    blocks = [words[start:end] for start, end in pairwise(starts)]
    corrections = [_correction(block, _CORRECTION[version - 1]) for block in blocks]
    in_turn = [*zip_longest(*blocks), *zip_longest(*corrections)]  # a codeword of each block
    return [word for turn in in_turn for word in turn if word is not None]


def _correction(block: list[int], count: int) -> list[int]:
    """Return the Reed-Solomon codewords of a block: what remains of it, divided by (x - 1)(x - 2)(x - 4)..."""
    divisor, root = [1], 1
    for _ in range(count):
        divisor = [a ^ _times(b, root) for a, b in zip([*divisor, 0], [0, *divisor], strict=True)]
        root = _times(root, 2)
    rest = block + [0] * count
    for k in range(len(block)):
        for i, word in enumerate(divisor[1:], k + 1):
            rest[i] ^= _times(word, rest[k])
    return rest[-count:]


@cache
def _times(a: int, b: int) -> int:
    """Return a product in GF(256), modulo x^8 + x^4 + x^3 + x^2 + 1."""
    result = 0
    while b:
        result ^= a * (b & 1)
        a, b = a << 1 ^ 0x11D * (a >> 7), b >> 1
    return result


def _capacity(version: int) -> int:
    return _data_codewords(version) - (_length_bits(version) + 8) // 8


def _length_bits(version: int) -> int:
    return 8 if version < 10 else 16


def _data_codewords(version: int) -> int:
    free = _size(version) ** 2 - len(_patterns(version))
    return free // 8 - _CORRECTION[version - 1] * _BLOCKS[version - 1]


def _size(version: int) -> int:
    return 17 + 4 * version


@cache
def _patterns(version: int) -> dict[Place, bool]:
    """Return the modules that hold no data, and whether they are dark; the format information is written later."""
    size = _size(version)
    placed = {place: k % 2 == 0 for k in range(size) for place in ((6, k), (k, 6))}  # timing
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):  # finders, with the light line around them
        for i, j in product(range(-1, 8), repeat=2):
            if 0 <= top + i < size and 0 <= left + j < size:
                placed[top + i, left + j] = max(abs(i - 3), abs(j - 3)) in (0, 1, 3)
    for row, column in _alignments(version):
        for i, j in product(range(-2, 3), repeat=2):
            placed[row + i, column + j] = max(abs(i), abs(j)) != 1
    coded = version << 12 | _remainder(version << 12, 0b1111100100101)
    for k in range(18 if version >= 7 else 0):
        row, column = size - 11 + k % 3, k // 3
        placed[row, column] = placed[column, row] = bool(coded >> k & 1)
    placed |= {place: False for places in _format_places(size) for place in places}
    return placed | {(size - 8, 8): True}


def _alignments(version: int) -> list[Place]:
    """Return the centres of the alignment patterns."""
    gaps, last = version // 7 + 1, _size(version) - 7
    apart = (version * 2 + gaps + 1) // gaps * 2
    centres = [6, *(last - k * apart for k in reversed(range(gaps)))] if version > 1 else []
    return [(i, j) for i, j in product(centres, repeat=2) if (i, j) not in ((6, 6), (6, last), (last, 6))]


def _format_places(size: int) -> tuple[list[Place], list[Place]]:
    """Return where the 15 bits of the format information stand, the lowest first: once in a corner, once in two."""
    corner = [(k, 8) for k in (0, 1, 2, 3, 4, 5, 7, 8)] + [(8, k) for k in (7, 5, 4, 3, 2, 1, 0)]
    return corner, [(8, size - 1 - k) for k in range(8)] + [(size - 7 + k, 8) for k in range(7)]


def _remainder(value: int, divisor: int) -> int:
    """Return the remainder of a division of polynomials over GF(2)."""
    while value.bit_length() >= divisor.bit_length():
        value ^= divisor << value.bit_length() - divisor.bit_length()
    return value


def _masks(i: int, j: int) -> tuple[int, ...]:
    """Return for each of the eight masks 0 if it changes the colour of the module in row i and column j."""
    both, times = i + j, i * j
    mixed = times % 2 + times % 3
    return both % 2, i % 2, j % 3, both % 3, (i // 2 + j // 3) % 2, mixed, mixed % 2, (both % 2 + times % 3) % 2


def _filled(bits: str, version: int, mask: int) -> list[str]:
    """Return the rows of the code with one of the eight masks."""
    size, places, data = _size(version), dict(_patterns(version)), iter(bits)
    for turn, right in enumerate([*range(size - 1, 6, -2), 5, 3, 1]):  # two columns in turn; column 6 is timing
        for i in range(size) if turn % 2 else range(size - 1, -1, -1):
            for j in (right, right - 1):
                if (i, j) not in places:
                    places[i, j] = (next(data, "0") == "1") ^ (_masks(i, j)[mask] == 0)
    coded = (_LEVEL << 3 | mask) << 10
    coded = (coded | _remainder(coded, 0b10100110111)) ^ 0b101010000010010
    for copy in _format_places(size):
        places |= {place: bool(coded >> k & 1) for k, place in enumerate(copy)}
    return ["".join("01"[places[i, j]] for j in range(size)) for i in range(size)]


def _penalty(rows: list[str]) -> int:
    """Return how hard a code is to read: long runs, blocks, what looks like a finder, and too much of one colour."""
    lines = [*rows, *map("".join, zip(*rows, strict=True))]
    runs = sum(len(run) - 2 for line in lines for run in re.findall("0{5,}|1{5,}", line))
    pairs = pairwise(rows)
    blocks = sum(a[j : j + 2] == b[j : j + 2] in ("00", "11") for a, b in pairs for j in range(len(rows) - 1))
    finders = sum(len(re.findall("(?=10111010000|00001011101)", line)) for line in lines)
    cells, dark = len(rows) ** 2, "".join(rows).count("1")
    return runs + 3 * blocks + 40 * finders + 10 * (abs(20 * dark - 10 * cells) // cells)


MAX_BYTES = _capacity(len(_BLOCKS))
