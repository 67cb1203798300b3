"""What a cell says when someone points at it: lines with blanks, which the player fills in."""

from packviz.show.movie.model import Cell

__all__ = ["SILENT", "Lines", "lines"]

Lines = tuple[tuple[str, ...], ...]  # of each line its wordings: the first whose blanks can all be filled is said

SILENT = frozenset({"focus", "ring", "title", "thread", "mark"})  # roles at which nothing can be pointed
_FIRST = {
    "pad": "padding in sequence {seq}: filler {text}, not a token",
    "count": "batch_sizes[{k}] = {text}",
}


def lines(cell: Cell) -> Lines:
    """Return the lines of a cell.

    The blanks: seq and k are its sequence and its number, token is all that is known of its token; text, number and
    vec are what it shows at the moment.
    """
    if cell.role in SILENT:
        return ()
    kind, *rest = cell.id.split(":")
    if kind in ("sorted", "unsorted"):
        return ((f"{kind}_indices[{{k}}] = {{text}}",), ("sequence {seq}",))
    first = ("{token}", _FIRST.get(cell.role, "sequence {seq}"))
    if cell.role == "value":
        return first, (f"{_value(kind, rest)}, unit {{k}}: {{number}}",)
    return first, ("{vec}",)


def _value(kind: str, rest: list[str]) -> str:
    """Return the name of a state or a gate."""
    names = {"hn": "h_n", "gate": f"{rest[0]} of {{seq}}", "was": f"{rest[0]} of {{seq}} before"}
    return names.get(kind, "h")
