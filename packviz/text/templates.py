"""Jinja templates: sentences in TOML files, and pieces of HTML and SVG."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined
from jinja2.filters import do_mark_safe
from jinja2.runtime import Context

from packviz.text.phrases import agree, are, counted, in_words, joined, letters, listed, sequence_label, so_many
from packviz.text.rounding import percent, two_decimals, two_digits

_CODE = re.compile("`([^`]*)`")


def html(text: str) -> str:
    """Return a text as HTML, with `code` between backticks."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def filled(template: str, values: Mapping[str, object]) -> str:
    """Fill in a Jinja template and return it on one line. ENVIRONMENT has the filters.

    >>> filled("{{ n | counted('row') }}", {"n": 2})
    '2 rows'
    """
    compiled = _compiled(template)
    context = Context(ENVIRONMENT, dict(values), None, {})  # without Jinja's globals, in a quarter of the time
    return " ".join("".join(compiled.root_render_func(context)).split())


def sentences(path: Path) -> Callable[..., str]:
    """Return a function that fills in Jinja templates of a TOML file, one sentence after another.

    It takes "section.key", or several of these, and the values by name, and returns one line, as `filled` does.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))

    def write(*keys: str, **values: object) -> str:
        places = [key.partition(".") for key in keys]
        return " ".join(filled(table[section][name], values) for section, _, name in places)

    return write


def markup(path: Path, **values: object) -> str:
    """Fill in a Jinja template of HTML or SVG, each value escaped."""
    return _MARKUP.get_template(str(path)).render(values)


ENVIRONMENT = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
ENVIRONMENT.filters |= {each.__name__: each for each in (agree, are, counted, in_words, joined, letters, listed)}
ENVIRONMENT.filters |= {each.__name__: each for each in (percent, so_many, two_decimals, two_digits)}
ENVIRONMENT.filters |= {"label": sequence_label, "repr": repr}
ENVIRONMENT.filters["html"] = lambda text: do_mark_safe(html(text))
_MARKUP = ENVIRONMENT.overlay(autoescape=True, loader=FunctionLoader(lambda path: Path(path).read_text("utf-8")))
_compiled = cache(ENVIRONMENT.from_string)
