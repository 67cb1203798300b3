"""TypeScript: the types of what Python sends, from its TypedDicts, NamedTuples and dataclasses."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from inspect import getdoc
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

NAMES = {bool: "boolean", int: "number", float: "number", str: "string", NoneType: "null"}


def declarations(*records: Any, **names: Any) -> str:
    """Return records, and those in them, as interfaces; names: types that are declared under a name of their own."""
    named = {hint: name for name, hint in names.items()}
    written = {hint: f"export type {name} = {_type(hint, {}, [])};\n" for name, hint in names.items()}
    waiting = list(records)
    for each in waiting:
        if each not in written:
            written[each] = _interface(each, named, waiting)
    return "\n".join(written.values())


def _interface(record: Any, named: Mapping[Any, str], used: list[Any]) -> str:
    """Return a record as an interface; of a NamedTuple, the fields that are None by default are optional."""
    defaults = getattr(record, "_field_defaults", {})
    optional = getattr(record, "__optional_keys__", {field for field, usual in defaults.items() if usual is None})
    fields = [
        f"  {field}{'?' if field in optional else ''}: {_type(hint, named, used)};\n"
        for field, hint in get_type_hints(record).items()
    ]
    said = "".join(f" * {line}".rstrip() + "\n" for line in (getdoc(record) or "").splitlines())
    return f"/**\n{said} */\nexport interface {record.__name__} {{\n{''.join(fields)}}}\n"


def _type(hint: Any, named: Mapping[Any, str], used: list[Any]) -> str:
    """Return a type as TypeScript; add the records in it to `used`."""
    parts, kind = get_args(hint), get_origin(hint)
    if is_typeddict(hint) or is_dataclass(hint):
        used.append(hint)
        return str(hint.__name__)
    if hint in named:
        return named[hint]
    if hint in NAMES:
        return NAMES[hint]
    if kind is Literal:
        return " | ".join(map(json.dumps, parts))
    inner = [_type(part, named, used) for part in parts if part is not ...]
    if kind in (Union, UnionType):
        first, *others = dict.fromkeys(inner)
        if len(others) == 1 and others[0].startswith(f"{first[:-1]}, "):  # a tuple, and the same with one more element
            return f"{others[0][:-1]}?]"
        return " | ".join([first, *others])
    if kind in (dict, Mapping):
        return f"Record<{inner[0]}, {inner[1]}>"
    if kind in (list, Sequence) or (kind is tuple and parts[-1] is ...):
        return f"({inner[0]})[]" if " " in inner[0] and not inner[0].startswith(("[", "Record<")) else f"{inner[0]}[]"
    if kind is tuple:
        return f"[{', '.join(inner)}]"
    raise TypeError(f"There is no type of TypeScript for {hint}.")
