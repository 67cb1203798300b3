"""TypeScript: the types of what Python sends, from its TypedDicts."""

import json
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

NAMES = {bool: "boolean", int: "number", float: "number", str: "string", NoneType: "null"}


def declarations(record: Any) -> str:
    """Return a TypedDict, and those in it, as interfaces."""
    written: dict[Any, str] = {}
    waiting = [record]
    for each in waiting:
        if each not in written:
            fields = get_type_hints(each)
            lines = [
                f"  {name}{'' if name in each.__required_keys__ else '?'}: {_type(hint, waiting)};\n"
                for name, hint in fields.items()
            ]
            written[each] = f"export interface {each.__name__} {{\n{''.join(lines)}}}\n"
    return "\n".join(written.values())


def _type(hint: Any, used: list[Any]) -> str:
    """Return a type as TypeScript; add the records in it to `used`."""
    parts = get_args(hint)
    if is_typeddict(hint):
        used.append(hint)
        return str(hint.__name__)
    if hint in NAMES:
        return NAMES[hint]
    if get_origin(hint) is Literal:
        return " | ".join(map(json.dumps, parts))
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(dict.fromkeys(_type(part, used) for part in parts))
    if get_origin(hint) in (list, Sequence):
        item = _type(parts[0], used)
        return f"({item})[]" if " " in item else f"{item}[]"
    raise TypeError(f"There is no type of TypeScript for {hint}.")
