"""A QR code is read back by a decoder of its own, whose tables are those of the standard, written out."""

import re

import pytest

from ui.qr import MAX_BYTES, _correction, qr_code, svg

# ISO/IEC 18004, tables 9 and E.1, level M: codewords of correction in a block; blocks, and codewords of data in each.
BLOCKS: dict[int, tuple[int, list[tuple[int, int]]]] = {
    1: (10, [(1, 16)]),
    2: (16, [(1, 28)]),
    3: (26, [(1, 44)]),
    4: (18, [(2, 32)]),
    5: (24, [(2, 43)]),
    6: (16, [(4, 27)]),
    7: (18, [(4, 31)]),
    8: (22, [(2, 38), (2, 39)]),
    9: (22, [(3, 36), (2, 37)]),
    10: (26, [(4, 43), (1, 44)]),
    11: (30, [(1, 50), (4, 51)]),
    12: (22, [(6, 36), (2, 37)]),
    13: (22, [(8, 37), (1, 38)]),
    14: (24, [(4, 40), (5, 41)]),
    15: (24, [(5, 41), (5, 42)]),
    16: (28, [(7, 45), (3, 46)]),
    17: (28, [(10, 46), (1, 47)]),
    18: (26, [(9, 43), (4, 44)]),
    19: (26, [(3, 44), (11, 45)]),
    20: (26, [(3, 41), (13, 42)]),
}
ALIGNED = dict(
    enumerate(
        [
            *([6, last] for last in (18, 22, 26, 30, 34)),
            *([6, middle, 2 * middle - 6] for middle in (22, 24, 26, 28, 30, 32, 34)),
            *([6, 26, 46, 66], [6, 26, 48, 70], [6, 26, 50, 74]),
            *([6, 30, 54, 78], [6, 30, 56, 82], [6, 30, 58, 86], [6, 34, 62, 90]),
        ],
        2,
    )
)
FORMATS = [  # of level M, masks 0 to 7: table C.1
    "101010000010010",
    "101000100100101",
    "101111001111100",
    "101101101001011",
    "100010111111001",
    "100000011001110",
    "100111110010111",
    "100101010100000",
]
MASKS = [
    "(i + j) % 2 == 0",
    "i % 2 == 0",
    "j % 3 == 0",
    "(i + j) % 3 == 0",
    "(i // 2 + j // 3) % 2 == 0",
    "(i * j) % 2 + (i * j) % 3 == 0",
    "((i * j) % 2 + (i * j) % 3) % 2 == 0",
    "((i + j) % 2 + (i * j) % 3) % 2 == 0",
]
POWERS = [1]
while len(POWERS) < 255:
    POWERS.append(POWERS[-1] * 2 if POWERS[-1] < 128 else POWERS[-1] * 2 ^ 285)
FINDER = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]


def version_of(rows: list[str]) -> int:
    return (len(rows) - 17) // 4


def reserved(i: int, j: int, version: int) -> bool:
    """Return whether a module holds no data."""
    size = 17 + 4 * version
    corner = min(i, size - 1 - i) < 8 and min(j, size - 1 - j) < 8 and not (i > 8 and j > 8)
    formats = (i == 8 and (j < 9 or j >= size - 8)) or (j == 8 and (i < 9 or i >= size - 8))
    versions = version >= 7 and ((i < 6 and size - 11 <= j < size - 8) or (j < 6 and size - 11 <= i < size - 8))
    centres = ALIGNED.get(version, [])
    ends = {(6, 6), (6, size - 7), (size - 7, 6)}
    aligned = any(abs(i - a) < 3 and abs(j - b) < 3 for a in centres for b in centres if (a, b) not in ends)
    return corner or formats or versions or aligned or 6 in (i, j)


def unmasked(rows: list[str]) -> list[int]:
    """Return the codewords in the order in which they stand in the code."""
    size, version = len(rows), version_of(rows)
    corner = "".join(rows[8][j] for j in (0, 1, 2, 3, 4, 5, 7, 8)) + "".join(rows[i][8] for i in (7, 5, 4, 3, 2, 1, 0))
    apart = "".join(rows[i][8] for i in range(size - 1, size - 8, -1)) + rows[8][-8:]
    assert corner == apart
    mask = compile(MASKS[FORMATS.index(corner)], "mask", "eval")
    bits, up = "", True
    for right in [*range(size - 1, 6, -2), 5, 3, 1]:
        for i in range(size - 1, -1, -1) if up else range(size):
            for j in (right, right - 1):
                if not reserved(i, j, version):
                    bits += str(int(rows[i][j] == "1") ^ bool(eval(mask, {"i": i, "j": j})))
        up = not up
    return [int(bits[k : k + 8], 2) for k in range(0, len(bits) - 7, 8)]


def syndromes(block: list[int], count: int) -> list[int]:
    """Return the values of a block, as a polynomial, at the first powers of 2: all 0 if nothing is damaged."""
    values = []
    for power in range(count):
        value = 0
        for word in block:
            value = word ^ (POWERS[(POWERS.index(value) + power) % 255] if value else 0)
        values.append(value)
    return values


def decoded(rows: list[str]) -> str:
    """Return the text of a code, in which nothing may be damaged."""
    version, words = version_of(rows), unmasked(rows)
    count, groups = BLOCKS[version]
    sizes = [size for many, size in groups for _ in range(many)]
    assert len(words) == sum(sizes) + count * len(sizes)
    blocks: list[list[int]] = [[] for _ in sizes]
    for k in range(max(sizes)):
        for block, size in zip(blocks, sizes, strict=True):
            if k < size:
                block.append(words.pop(0))
    for k, word in enumerate(words):
        blocks[k % len(blocks)].append(word)
    assert all(set(syndromes(block, count)) == {0} for block in blocks)
    data = bytes(word for block, size in zip(blocks, sizes, strict=True) for word in block[:size])
    bits = "".join(f"{word:08b}" for word in data)
    assert bits[:4] == "0100"
    wide = 8 if version < 10 else 16
    length = int(bits[4 : 4 + wide], 2)
    start = 4 + wide
    return bytes(int(bits[k : k + 8], 2) for k in range(start, start + 8 * length, 8)).decode("utf-8")


@pytest.mark.parametrize("version", BLOCKS)
def test_a_full_code_of_each_version_is_read_back(version: int) -> None:
    room = sum(many * size for many, size in BLOCKS[version][1]) - (2 if version < 10 else 3)
    text = ("https://packviz.example/packing?sequences=a+b%0Ac&step=" * 20)[:room]
    rows = qr_code(text)
    assert version_of(rows) == version
    assert decoded(rows) == text
    assert version == 20 or version_of(qr_code(text + "x")) == version + 1


def test_any_text_is_read_back() -> None:
    for text in ("", "a", "http://localhost:8501/?sequences=밀키웨이 ist schön"):
        assert decoded(qr_code(text)) == text


def test_the_patterns_by_which_a_code_is_found_are_there() -> None:
    rows = qr_code("x" * 100)  # version 6
    size = len(rows)
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):
        assert [row[left : left + 7] for row in rows[top : top + 7]] == FINDER
    assert rows[6][8 : size - 8] == ("10" * size)[: size - 16]
    assert [row[size - 9 : size - 4] for row in rows[size - 9 : size - 4]] == [
        "11111",
        "10001",
        "10101",
        "10001",
        "11111",
    ]
    assert rows[size - 8][8] == "1"
    seven = qr_code("x" * 110)
    coded = "".join(seven[i][len(seven) - 11 + k] for i in range(5, -1, -1) for k in (2, 1, 0))
    assert coded == "000111110010010100"  # of version 7: table D.1


def test_the_correction_of_a_published_example() -> None:
    """HELLO WORLD as 1-M, from Thonky's tutorial."""
    data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
    assert _correction(data, 10) == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]


def test_a_text_that_is_too_long_is_refused() -> None:
    assert decoded(qr_code("é" * (MAX_BYTES // 2))) == "é" * (MAX_BYTES // 2)
    with pytest.raises(ValueError, match=f"at most {MAX_BYTES} bytes, got {MAX_BYTES + 1}"):
        qr_code("x" * (MAX_BYTES + 1))


def test_the_image_has_the_dark_modules_and_a_light_zone_around() -> None:
    rows = qr_code("packviz")
    image = svg(rows)
    size = len(rows)
    assert f'viewBox="0 0 {size + 8} {size + 8}"' in image
    drawn = [["0"] * size for _ in rows]
    for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)", image):
        for k in range(int(wide)):
            drawn[int(y) - 4][int(x) - 4 + k] = "1"
    assert ["".join(row) for row in drawn] == rows
