"""Pasted lists, Python code and printed tensors, parsed by `ast` into a tree of their brackets, and never run."""

from __future__ import annotations

import ast
import re
from itertools import accumulate
from typing import NamedTuple

from packviz.errors import PackvizError
from packviz.inputs.parsing.lines import AS_WORDS
from packviz.text import quoted_line

EXAMPLE = "[[1, 2, 3], [4, 5]]"

_TENSORS = r"(?:(?:Float|Double|Half|Long|Int|Short|Bool)?Tensor|(?:as_)?tensor|(?:as)?array)"
_AROUND = re.compile(rf"{_TENSORS}|list|tuple|pad_sequence|pack_sequence")
# A line that assigns a list or a tensor to a name, or starts with a tensor or an array.
PYTHON = re.compile(
    rf"^[ \t]*+(?:\w++[ \t]*+(?::[^=\n]*+)?=[ \t]*+(?:[\[(]|(?:torch|np|numpy)\.|(?:{_AROUND.pattern})\()"
    rf"|[ \t\[(]*+(?:\w++\.)*+{_TENSORS}\()",
    re.MULTILINE,
)
# What Python cannot parse in a printed tensor: its grad_fn, and leading zeros.
_REFUSED = re.compile(r",\s*+grad_fn=<[^<>\n]*+>|(?<![\w.])(?<![eE][+-])0+(?=[0-9])")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "'": "'", '"': '"'}
_READABLE = "lists, numbers, strings and tensor(...)"
_KEEP = f"keep only the list of sequences, as in {EXAMPLE}, or {AS_WORDS}"


class Atom(NamedTuple):
    """One item that is not a list: its text (unquoted), and its position."""

    text: str
    offset: int
    quoted: bool


class Group(NamedTuple):
    """One list or tuple: its items, the position of its bracket, whether it was in tensor(...) or array(...)."""

    items: list[Atom | Group]
    offset: int
    in_tensor: bool = False

    @property
    def atoms(self) -> list[Atom]:
        """Return the items that are not lists."""
        return [item for item in self.items if isinstance(item, Atom)]

    @property
    def groups(self) -> list[Group]:
        """Return the items that are lists."""
        return [item for item in self.items if isinstance(item, Group)]


def list_refusal(text: str, offset: int, expected: str, got: str, fix: str) -> PackvizError:
    """Return the error for a list at this offset."""
    return PackvizError("text", expected=expected, got=f"{got} at {position(text, offset)}", fix=fix)


def position(text: str, offset: int) -> str:
    """Return an offset as line and column, counted from 1: "line 1, column 4"."""
    before = text[:offset]
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


class Reader:
    """Parse a text; collect assigned names and ignored parts.

    expected, fix, example: the wording for unreadable input. Raises PackvizError, with the position, for anything that
    is not a literal value: nothing is run.
    """

    def __init__(
        self, text: str, expected: str = "lists that can be read", fix: str = _KEEP, example: str = EXAMPLE
    ) -> None:
        self.text, self.example, self._expected, self._fix = text, example, expected, fix
        self._start = len(text) - len(text.lstrip())
        # one byte for each character, so that columns are the same; quoted strings are cut from the original text
        blanked = _REFUSED.sub(lambda match: " " * len(match[0]), text[self._start :])
        blanked = _ESCAPE.sub(lambda match: match[0] if match[3] in ("'", '"', "\n") else "_" * len(match[0]), blanked)
        self._code = _NOT_ASCII.sub(lambda match: " " if match[0].isspace() else "_", blanked)
        self._lines = [0, *accumulate(len(line) + 1 for line in self._code.split("\n"))]
        self._names: dict[str, Atom | Group] = {}
        self._used: set[str] = set()
        self._ignored: dict[str, None] = {}

    def batch(self) -> tuple[Group, tuple[str, ...]]:
        """Return the tree of the only list of sequences, or of all flat lists as one; and what was ignored.

        Names may be assigned and used once; imports are skipped.
        """
        loose = [found for statement in self._parsed().body if (found := self._statement(statement)) is not None]
        named = [value for name, value in self._names.items() if name not in self._used and isinstance(value, Group)]
        groups = sorted([*loose, *named], key=lambda group: group.offset)
        if not groups:
            raise list_refusal(self.text, self._start, "a list of sequences", "none", self._fix)
        root = groups[0]
        if len(groups) > 1 or (root.in_tensor and not root.groups):
            if any(group.groups for group in groups):
                got = f"{len(groups)} lists, the second one"
                raise list_refusal(self.text, groups[1].offset, "one list of sequences", got, self._fix)
            root = Group([*groups], groups[0].offset)
        ignored = ", ".join(self._ignored)
        return root, (f"Ignored: {ignored[:80]}{'…' if len(ignored) > 80 else ''}.",) if ignored else ()

    def expression(self) -> ast.expr:
        """Return the only value in the text, perhaps assigned to a name, as a syntax tree."""
        match self._parsed().body:
            case [ast.Expr(value=value) | ast.Assign(targets=[ast.Name()], value=value)]:
                return value
        raise PackvizError("text", expected=self._expected, got=quoted_line(self.text.strip()), fix=self._fix)

    @property
    def is_one_list(self) -> bool:
        """Return whether the text is one list, or one tuple in parentheses, and nothing else."""
        node = self.expression()
        in_brackets = isinstance(node, ast.List) or (isinstance(node, ast.Tuple) and self.source(node)[0] == "(")
        return in_brackets and self.source(node) == self.text.strip()

    def _parsed(self) -> ast.Module:
        try:
            return ast.parse(self._code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            at = self._start
            if isinstance(error, SyntaxError) and error.lineno and error.lineno < len(self._lines):
                at += self._lines[error.lineno - 1] + max((error.offset or 1) - 1, 0)
            said = error.msg if isinstance(error, SyntaxError) else "nested too deeply"
            fix = f"close every bracket and quote, and put one comma between items, as in {self.example}"
            fix += f", or {AS_WORDS}" if self._fix == _KEEP else ""
            raise list_refusal(self.text, at, self._expected, f"a syntax error ({said})", fix) from None

    def _statement(self, statement: ast.stmt) -> Group | None:
        """Return a list that has no name; keep one that is assigned to a name."""
        match statement:
            case ast.Import() | ast.ImportFrom():
                return None
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                found = self.value(value)
                if isinstance(found, Atom):
                    self._ignored[f"{name} = {found.text}"] = None
                self._names[name] = found
                self._used.discard(name)
                return None
            case ast.Expr(value=ast.Tuple(elts=[ast.expr() as value]) as alone) if self.source(alone)[0] != "(":
                found = self.value(value)  # a list followed by a comma
            case ast.Expr(value=ast.expr() as value):
                found = self.value(value)
            case _:
                raise self._unreadable(statement)
        if isinstance(found, Atom):
            raise self._unreadable(statement)
        return found

    def value(self, node: ast.expr) -> Atom | Group:
        """Return the tree of a value."""
        at = self._at(node)
        match node:
            case ast.Constant(value=int() | float()):  # first: the most common case
                return Atom(self.source(node), at, False)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return Group([self.value(item) for item in items], at)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.expr() as inner]) if (
                _AROUND.fullmatch(name)
            ):
                self._ignored |= {self.source(keyword): None for keyword in node.keywords}
                found = self.value(inner)
                tensor = isinstance(found, Group) and re.fullmatch(_TENSORS, name)
                return found._replace(in_tensor=True) if isinstance(found, Group) and tensor else found
            case ast.Name(id=name) if name in self._names:
                if name in self._used:
                    raise list_refusal(self.text, at, "each name once", f"'{name}' again", "write its list there")
                self._used.add(name)
                return self._names[name]
            case ast.Constant(value=str()):
                return self._string(node)
            case ast.Constant(value=value) if value is ...:
                fix = "print the tensor in full: torch.set_printoptions(threshold=float('inf'))"
                raise list_refusal(self.text, at, "all numbers of the tensor", "'...'", fix)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant() | ast.Name()):
                return Atom("".join(self.source(node).split()), at, False)
            case ast.Constant() | ast.Name() | ast.Attribute():
                return Atom(self.source(node), at, False)
        raise self._unreadable(node)

    def _string(self, node: ast.Constant) -> Atom:
        source = self.source(node)
        plain = source[:1] in "'\"" and not source.startswith(("'''", '"""'))
        if not plain or source[1:-1].replace("\\" + source[0], "").count(source[0]):
            raise self._unreadable(node)
        return Atom(_unquoted(source), self._at(node), True)

    def _at(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self._start + self._lines[node.lineno - 1] + node.col_offset

    def source(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """Return the source text of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.text[self._at(node) : self._start + self._lines[node.end_lineno - 1] + node.end_col_offset]

    def _unreadable(self, node: ast.expr | ast.stmt) -> PackvizError:
        return list_refusal(self.text, self._at(node), _READABLE, quoted_line(self.source(node)), self._fix)


def _unquoted(string: str) -> str:
    """Return the content of a quoted string; an invalid escape is kept as typed."""
    if "\\" not in string:
        return string[1:-1]

    def unescaped(match: re.Match[str]) -> str:
        digits = match[1] or match[2]
        return chr(int(digits, 16)) if digits else _ESCAPED.get(match[3], match[0])

    said = _ESCAPE.sub(unescaped, string[1:-1])
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins the halves of \ud83d\ude00
