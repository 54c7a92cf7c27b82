"""Read JSON into dataclasses: unknown keys, missing keys and wrong types are BadInput that names the path."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from palate_bridge.errors import BadInput


@dataclass(frozen=True)
class Check:
    """A condition a value must meet, and how to say it."""

    holds: Callable[[Any], bool]
    wanted: str


def at_least(low: float) -> Check:
    return Check(lambda value: value >= low, f"at least {low}")


def above(low: float) -> Check:
    return Check(lambda value: value > low, f"above {low}")


def at_most(high: float) -> Check:
    return Check(lambda value: value <= high, f"at most {high}")


def below(high: float) -> Check:
    return Check(lambda value: value < high, f"below {high}")


NOT_EMPTY = Check(lambda value: len(value) > 0, "not empty")


def read(kind: Any, value: Any, path: str) -> Any:
    """The value as `kind`: a dataclass, an Annotated type with Checks, or one of JSON's own types."""
    origin = get_origin(kind)
    if origin is Annotated:
        return read_annotated(kind, value, path)
    if origin in (Union, types.UnionType):
        return read_union(get_args(kind), value, path)
    if origin is Literal:
        if not any(value == choice and type(value) is type(choice) for choice in get_args(kind)):
            raise wrong(path, "one of " + ", ".join(map(repr, get_args(kind))), value)
        return value
    if origin in (list, tuple, dict):
        return read_container(origin, get_args(kind), value, path)
    if dataclasses.is_dataclass(kind):
        return read_object(kind, value, path)
    return read_plain(kind, value, path)


def read_annotated(kind: Any, value: Any, path: str) -> Any:
    result = read(kind.__origin__, value, path)
    for check in kind.__metadata__:
        if not check.holds(result):
            raise wrong(path, check.wanted, value)
    return result


def read_union(choices: tuple[Any, ...], value: Any, path: str) -> Any:
    """`X | None`, a literal beside another type, or dataclasses told apart by a one-valued Literal field."""
    if type(None) in choices and value is None:
        return None
    rest = [choice for choice in choices if choice is not type(None)]
    objects = [choice for choice in rest if dataclasses.is_dataclass(choice)]
    if len(objects) > 1:
        return read_object(pick_object(objects, value, path), value, path)
    failures: list[BadInput] = []
    for choice in rest:
        try:
            return read(choice, value, path)
        except BadInput as failure:
            failures.append(failure)
    raise failures[-1]


def pick_object(objects: list[Any], value: Any, path: str) -> Any:
    tag = tag_field(objects)
    given = value.get(tag) if isinstance(value, dict) else None
    for choice in objects:
        if given in get_args(get_type_hints(choice, include_extras=True)[tag]):
            return choice
    wanted = [get_args(get_type_hints(choice, include_extras=True)[tag])[0] for choice in objects]
    raise wrong(f"{path}.{tag}", "one of " + ", ".join(map(repr, wanted)), given)


def tag_field(objects: list[Any]) -> str:
    """The field that is a one-valued Literal in each class, with another value in each."""
    for name, kind in get_type_hints(objects[0], include_extras=True).items():
        if get_origin(kind) is Literal and len(get_args(kind)) == 1:
            values = {get_args(get_type_hints(choice, include_extras=True).get(name)) for choice in objects}
            if len(values) == len(objects):
                return name
    raise AssertionError("no field tells these classes apart")


def read_container(origin: Any, arguments: tuple[Any, ...], value: Any, path: str) -> Any:
    if origin is dict:
        if not isinstance(value, dict):
            raise wrong(path, "an object", value)
        return {name: read(arguments[1], item, f"{path}.{name}") for name, item in value.items()}
    if not isinstance(value, list):
        raise wrong(path, "a list", value)
    if origin is list:
        return [read(arguments[0], item, f"{path}[{index}]") for index, item in enumerate(value)]
    if len(value) != len(arguments):
        raise wrong(path, f"a list of {len(arguments)}", value)
    pairs = zip(arguments, value, strict=True)
    return tuple(read(kind, item, f"{path}[{index}]") for index, (kind, item) in enumerate(pairs))


def read_object(kind: Any, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        raise wrong(path, "an object", value)
    hints = get_type_hints(kind, include_extras=True)
    for name in value:
        if name not in hints:
            raise BadInput(f"{path}.{name}: unknown key; known are {', '.join(hints)}")
    for name in hints:
        if name not in value:
            raise BadInput(f"{path}.{name}: missing")
    return kind(**{name: read(hint, value[name], f"{path}.{name}") for name, hint in hints.items()})


def read_plain(kind: Any, value: Any, path: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        raise wrong(
            path,
            {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}[kind],
            value,
        )
    return value


def wrong(path: str, wanted: str, value: Any) -> BadInput:
    shown = repr(value)
    return BadInput(f"{path}: must be {wanted}, not {shown if len(shown) <= 80 else shown[:77] + '...'}")
