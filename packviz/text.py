"""Text for the screen: escaped control characters, described values, pluralized counts, lists in prose."""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jinja2 import Environment, FunctionLoader, StrictUndefined
from jinja2.filters import do_mark_safe
from jinja2.runtime import Context
from torch import Tensor

# Control characters, line and paragraph separators, zero-width spaces, bidirectional controls and lone surrogates.
# Joiners stay: emoji and several scripts need them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u200b\u200e\u200f"
    "\u2028-\u202e\u2060\u2066-\u2069\u3164\ufeff\ud800-\udfff]"
)
_CODE = re.compile("`([^`]*)`")
_BLANK = re.compile(r"\s+")


class Brief:
    """Print a record on one line: a tensor as shape and dtype, or as values if it has at most 8 integers."""

    def __repr__(self) -> str:
        parts = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(parts)})"


def _brief(value: Any) -> str:
    if isinstance(value, Tensor):
        few = value.dim() == 1 and len(value) <= 8 and not value.is_floating_point()
        return str(value.tolist()) if few else f"{tuple(value.shape)} {dtype_name(value.dtype)}"
    if isinstance(value, Mapping):
        return f"<{', '.join(map(str, value))}>"
    plain = str | int | float | None
    if isinstance(value, tuple | list) and not (len(value) <= 8 and all(isinstance(each, plain) for each in value)):
        return f"<{counted(len(value), 'item')}>"
    text = repr(value) if isinstance(value, plain | Brief | tuple | list) else f"<{type(value).__name__}>"
    return text if len(text) <= 120 else f"{text[:118]} …"


def visible(text: str) -> str:
    r"""Replace each invisible or unprintable character by a visible symbol.

    >>> visible("a\x00b\tc")
    'a␀b␉c'
    """
    seen = _HIDDEN.sub(_symbol, text)
    return "␣" * len(seen) if _BLANK.fullmatch(seen) else seen


def quoted(text: str, width: int = 24) -> str:
    """Return the text for a message: visible, in quotes, and cut to `width` characters.

    >>> print(quoted("short"), quoted("x" * 30, width=5))
    'short' 'xxxx…'
    """
    seen = visible(text[: width + 1])
    return f"'{seen}'" if len(text) <= width else f"'{seen[: width - 1]}…'"


def quoted_line(text: str, width: int = 24) -> str:
    """Return the first line of a text for a message, as `quoted`, with "…" if other lines follow.

    >>> print(quoted_line("one"), quoted_line("one\\ntwo"))
    'one' 'one…'
    """
    line = next(filter(str.strip, text.split("\n")), text)
    said = quoted(line, width)
    return said if line.strip() == text.strip() or len(line) > width else f"{said[:-1]}…'"


def html(text: str) -> str:
    """Return a text as HTML, with `code` between backticks."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def dtype_name(dtype: torch.dtype) -> str:
    """Return "float32" for torch.float32."""
    return str(dtype).removeprefix("torch.")


def shown(value: object) -> str:
    """Describe any value for a message: a text in quotes, a number as it is, anything else by its type.

    NumPy's scalars are shown like Python's, and a tensor without reading its values.

    >>> shown("abc"), shown(np.int64(2)), shown([1, 2]), shown(torch.zeros(3, 4))
    ("'abc'", '2', 'a list', 'a float32 tensor of shape (3, 4)')
    """
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if isinstance(value, Tensor):
        return _shown_tensor(value)
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, int):
        if abs(value) < 10**30:
            return str(value)
        power = round(math.log10(abs(value)))  # the logarithm is exact enough to find the nearest power of 10
        return f"a number of {power + (abs(value) >= 10**power)} digits"
    return with_article(type(value).__name__)


def _shown_tensor(value: Tensor) -> str:
    if value.is_nested:
        return "a nested tensor"
    if value.is_quantized:
        return "a quantized tensor"
    if value.layout != torch.strided:
        return f"a tensor in the {str(value.layout).removeprefix('torch.')} layout"
    return f"{with_article(dtype_name(value.dtype))} tensor of shape {tuple(value.shape)}"


def numbers(values: Tensor | Sequence[float]) -> str:
    """Return the first few of some numbers, in brackets."""
    flat = values.detach().flatten() if isinstance(values, Tensor) else values
    first = flat[:8].tolist() if isinstance(flat, Tensor) else flat[:8]
    items = ", ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in first)
    return f"[{items}]" if len(flat) <= 8 else f"[{items}, …]"


def sequence_label(b: int) -> str:
    """Return the letter of sequence b: A to Z, then AA, AB and so on.

    >>> [sequence_label(b) for b in (0, 25, 26, 27, 701, 702)]
    ['A', 'Z', 'AA', 'AB', 'ZZ', 'AAA']
    """
    before, letter = divmod(b, 26)
    return (sequence_label(before - 1) if before else "") + chr(ord("A") + letter)


def letters(sequences: Iterable[int]) -> str:
    """Join the letters of some sequences into a phrase: "A", "A and B", "A, B and C"."""
    return joined([sequence_label(b) for b in sequences])


def joined(names: Sequence[str], most: int = 8, word: str = "and") -> str:
    """Join names into a phrase; beyond `most`, name the first and count the rest.

    >>> joined(["A", "B", "C"]), joined(["A", "B", "C"], most=1), joined(["A", "B"], word="or")
    ('A, B and C', 'A and 2 more', 'A or B')
    """
    more = [f"{len(names) - most} more"] if len(names) > most else []
    *head, last = [*names[:most], *more] or [""]
    return f"{', '.join(head)} {word} {last}" if head else last


def listed(items: Sequence[object], most: int = 4) -> str:
    """Join items with commas; beyond `most`, list the first and count the rest.

    >>> listed([5, 4, 3, 2, 1, 1])
    '5, 4, 3, 2 and 2 more'
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(str(item) for item in items[:most]) + more


def counted(number: int, noun: str) -> str:
    """Return a count with its noun in the singular or plural.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Return a share from 0 to 1 in percent, never 0 % or 100 % unless it is exact.

    >>> percent(0.335), percent(0.001), percent(0.999)
    ('34 %', 'under 1 %', 'over 99 %')
    """
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 <= share < 1 else f"{round(100 * share)} %"


def shape(*sizes: int) -> str:
    """Return sizes as torch prints a shape: "(3, 4)", "(3,)"."""
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(map(str, sizes))})"


def two_digits(number: float) -> str:
    """Return a number with two significant digits, up to a million with all of its integer digits.

    >>> two_digits(0.4216), two_digits(3e-8), two_digits(123.4)
    ('0.42', '3e-8', '123')
    """
    if not math.isfinite(number):
        return "no finite number"
    if 99.5 <= abs(number) < 1e6:
        return f"{number:.0f}"
    return f"{number:.2g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def two_decimals(number: float) -> str:
    """Return a number with two decimals, as cells show it; with two significant digits if they would be 0, or needless.

    >>> two_decimals(0.4), two_decimals(0.095), two_decimals(3e-8), two_decimals(123.4)
    ('0.40', '0.10', '3e-8', '123')
    """
    return f"{number:.2f}" if 0.005 <= abs(number) < 99.5 else two_digits(number)


def with_article(noun: str) -> str:
    """Return the noun with its article: "a tensor", "an int", "an LSTM", "an ndarray"."""
    vowels = "AEFHILMNORSX" if noun[:2].isupper() else "aeioAEIO"  # initials are read out: an el, a gee
    return f"an {noun}" if noun[:1] in vowels or noun == "ndarray" else f"a {noun}"


def filled(template: str, values: Mapping[str, object]) -> str:
    """Fill in a Jinja template and return it on one line. The functions of this module are filters.

    >>> filled("{{ n | counted('row') }}", {"n": 2})
    '2 rows'
    """
    compiled = _compiled(template)
    context = Context(ENVIRONMENT, dict(values), None, {})  # without Jinja's globals, in a quarter of the time
    return " ".join("".join(compiled.root_render_func(context)).split())


def sentences(path: Path) -> Callable[..., str]:
    """Return a function that fills in one of the Jinja templates in a TOML file.

    It takes "section.key" and the values by name, and returns one line, as `filled` does.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))

    def write(key: str, /, **values: object) -> str:
        section, _, name = key.partition(".")
        return filled(table[section][name], values)

    return write


def markup(path: Path, **values: object) -> str:
    """Fill in a Jinja template of HTML or SVG, each value escaped."""
    return _MARKUP.get_template(str(path)).render(values)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"


ENVIRONMENT = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
ENVIRONMENT.filters |= {each.__name__: each for each in (counted, joined, letters, listed, percent, two_digits)}
ENVIRONMENT.filters |= {"label": sequence_label, "repr": repr}
ENVIRONMENT.filters["html"] = lambda text: do_mark_safe(html(text))
_MARKUP = ENVIRONMENT.overlay(autoescape=True, loader=FunctionLoader(lambda path: Path(path).read_text("utf-8")))
_compiled = cache(ENVIRONMENT.from_string)
