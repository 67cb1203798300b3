"""Pasted Python or printed tensors, read into the same tree as a plain list; parsed by `ast`, and never run."""

import ast
import re
from itertools import accumulate

from packviz.errors import PackvizError
from packviz.inputs.parsing.lists import EXAMPLE, Atom, Group, check_depth, list_refusal, unquoted
from packviz.inputs.parsing.tokens import AS_WORDS
from packviz.text import quoted

TENSOR = "tensor"  # the bracket of a Group that stood in tensor(...) or array(...)

_TENSORS = r"(?:(?:Float|Double|Half|Long|Int|Short)?Tensor|(?:as_)?tensor|(?:as)?array)"
_AROUND = re.compile(rf"{_TENSORS}|list|tuple|pad_sequence|pack_sequence")
_PYTHON = re.compile(
    rf"^[ \t]*+(?:\w++[ \t]*+(?::[^=\n]*+)?=[ \t]*+(?:[\[(]|(?:torch|np|numpy)\.|(?:{_AROUND.pattern})\()"
    rf"|[ \t\[(]*+(?:\w++\.)*+{_TENSORS}\()",
    re.MULTILINE,
)
_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ", re.MULTILINE)
_GRAD_FN = re.compile(r",\s*+grad_fn=<[^<>\n]*+>")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_READABLE = "lists, numbers, strings and tensor(...)"
_KEEP = f"keep only the list of sequences, as in {EXAMPLE}, or {AS_WORDS}"


def is_python(text: str) -> bool:
    """Tell whether a line of the text assigns a list or a tensor to a name, or starts with a tensor or an array."""
    return _PYTHON.search(text) is not None


def without_prompts(text: str) -> str:
    """Return the text without the prompts of Python's own shell."""
    return _PROMPT.sub("", text)


def read_python(text: str) -> tuple[Group, tuple[str, ...]]:
    """Return the tree of the batch that Python code writes down, and what of the code was ignored.

    Names may be assigned and used once; imports are passed over. Several flat lists are one sequence each.
    Raises PackvizError, with the place, for anything that is not written down as a value: nothing is run.
    """
    return _Reader(text).batch()


class _Reader:
    """Hold the text, the values of its names, and what has been ignored."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = len(text) - len(text.lstrip())
        # one byte for each character, so that columns are the same; what is quoted is cut from the text itself
        blanked = _GRAD_FN.sub(lambda match: " " * len(match[0]), text[self._start :])
        self._code = _NOT_ASCII.sub(lambda match: " " if match[0].isspace() else "_", blanked)
        self._lines = [0, *accumulate(len(line) + 1 for line in self._code.split("\n"))]
        self._names: dict[str, Atom | Group] = {}
        self._used: set[str] = set()
        self._ignored: dict[str, None] = {}

    def batch(self) -> tuple[Group, tuple[str, ...]]:
        """Return the only list of sequences, or the flat lists as one; and the notes."""
        loose: list[Group] = []
        for statement in self._parsed().body:
            found = self._statement(statement)
            if found is not None:
                loose.append(found)
        named = [value for name, value in self._names.items() if name not in self._used and isinstance(value, Group)]
        groups = sorted([*loose, *named], key=lambda group: group.offset)
        if not groups:
            raise list_refusal(self._text, self._start, "a list of sequences", "none", _KEEP)
        root = groups[0]
        if len(groups) > 1 or (root.bracket == TENSOR and _is_flat(root)):
            if not all(map(_is_flat, groups)):
                got = f"{len(groups)} lists, the second one"
                raise list_refusal(self._text, groups[1].offset, "one list of sequences", got, _KEEP)
            root = Group([*groups], groups[0].offset, "[")
        check_depth(self._text, root, 1)
        ignored = ", ".join(self._ignored)
        return root, (f"Ignored: {ignored[:80]}{'…' if len(ignored) > 80 else ''}.",) if ignored else ()

    def _parsed(self) -> ast.Module:
        try:
            return ast.parse(self._code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            at = self._start
            if isinstance(error, SyntaxError) and error.lineno and error.lineno < len(self._lines):
                at += self._lines[error.lineno - 1] + max((error.offset or 1) - 1, 0)
            said = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
            got = f"code with an error ({said})"
            raise list_refusal(self._text, at, "Python that can be read", got, _KEEP) from None

    def _statement(self, statement: ast.stmt) -> Group | None:
        """Return the list that stands by itself; keep one that has a name."""
        match statement:
            case ast.Import() | ast.ImportFrom():
                return None
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                found = self._value(value)
                if isinstance(found, Atom):
                    self._ignored[f"{name} = {found.text}"] = None
                self._names[name] = found
                self._used.discard(name)
                return None
            case ast.Expr(value=ast.Tuple(elts=[ast.expr() as value]) as alone) if self._source(alone)[0] != "(":
                found = self._value(value)  # a list with a comma after it
            case ast.Expr(value=ast.expr() as value):
                found = self._value(value)
            case _:
                raise self._unreadable(statement)
        if isinstance(found, Atom):
            raise self._unreadable(statement)
        return found

    def _value(self, node: ast.expr) -> Atom | Group:
        at = self._at(node)
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return Group([self._value(item) for item in items], at, "[")
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.expr() as inner]) if (
                _AROUND.fullmatch(name)
            ):
                self._ignored |= {self._source(keyword): None for keyword in node.keywords}
                found = self._value(inner)
                tensor = isinstance(found, Group) and re.fullmatch(_TENSORS, name)
                return found._replace(bracket=TENSOR) if isinstance(found, Group) and tensor else found
            case ast.Name(id=name) if name in self._names:
                if name in self._used:
                    raise list_refusal(self._text, at, "each name once", f"'{name}' again", "write the list there")
                self._used.add(name)
                return self._names[name]
            case ast.Constant(value=str()):
                return self._string(node)
            case ast.Constant(value=value) if value is ...:
                fix = "print all of it: torch.set_printoptions(threshold=float('inf'))"
                raise list_refusal(self._text, at, "every number", "'...', a shortened text", fix)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant() | ast.Name()):
                return Atom("".join(self._source(node).split()), at, False)
            case ast.Constant() | ast.Name() | ast.Attribute():
                return Atom(self._source(node), at, False)
        raise self._unreadable(node)

    def _string(self, node: ast.Constant) -> Atom:
        source = self._source(node)
        plain = source[:1] in "'\"" and not source.startswith(("'''", '"""'))
        if not plain or source[1:-1].replace("\\" + source[0], "").count(source[0]):
            raise self._unreadable(node)
        return Atom(unquoted(source), self._at(node), True)

    def _at(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self._start + self._lines[node.lineno - 1] + node.col_offset

    def _source(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._text[self._at(node) : self._start + self._lines[node.end_lineno - 1] + node.end_col_offset]

    def _unreadable(self, node: ast.expr | ast.stmt) -> PackvizError:
        return list_refusal(self._text, self._at(node), _READABLE, quoted(self._source(node)), _KEEP)


def _is_flat(group: Group) -> bool:
    return not group.groups
