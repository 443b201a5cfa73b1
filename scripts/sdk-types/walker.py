"""Validates a JSON value against a Python type, strictly.

The packages describe requests with typed dictionaries and pydantic models. Their own validation is too lenient for a
check: it accepts unknown members, converts `"1"` to 1, reads iterables lazily and accepts unknown literals. Here nothing
is converted, every member must be known, and every literal must be listed.
"""

import collections.abc
import enum
import functools
import types
import typing
from dataclasses import dataclass, replace

import typing_extensions

LISTS = {list, tuple, set, collections.abc.Iterable, collections.abc.Sequence, collections.abc.Collection}
MAPS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}
ALIASES = (typing_extensions.TypeAliasType, getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType))
WRAPPERS = {typing.Annotated, typing.Required, typing.NotRequired, typing_extensions.ReadOnly}
# Types that mean "not set" or "unknown to this version": they never match a value of a body.
MARKS = {"Unset", "NotGiven", "Omit", "UnrecognizedStr", "UnrecognizedInt"}

# Members that identify an object of a union.
TAGS = {"type", "role"}
# The weight of an error as a sign that another member of a union was meant; a tenth of it for each level of nesting.
OTHER_SHAPE, OTHER_TAG, OTHER_MEMBER, OTHER_WORD = 100_000, 10_000, 5_000, 1_000


@dataclass(frozen=True)
class Error:
    """An error with its path in the body."""

    path: str
    problem: str
    weight: int

    def __str__(self):
        return f"{self.path}: {self.problem}"


@dataclass(frozen=True)
class Member:
    """A member of an object type."""

    kind: object
    is_required: bool


class Walker:
    """Walks a value and its type in parallel.

    `extras` maps members that a type lacks, as (name of the type, name of the member), to their types. `stand_ins` maps
    the names of types that are serialized as another type to that type.
    """

    def __init__(self, extras=None, stand_ins=None):
        self.extras = extras or {}
        self.stand_ins = stand_ins or {}
        self.used = set()

    def errors(self, kind, value, path="$"):
        kind = bare(kind)
        kind = self.stand_ins.get(name_of(kind), kind)
        origin = typing.get_origin(kind) or kind
        if kind is typing.Any or kind is object:
            return []
        if origin is typing.Union or origin is types.UnionType:
            return self._union(typing.get_args(kind), value, path)
        if origin is typing.Literal:
            return self._literal(typing.get_args(kind), value, path)
        if members_of(kind) is not None:
            return self._object(kind, value, path)
        if is_list(origin):
            return self._list(typing.get_args(kind), value, path)
        if is_map(origin):
            return self._map(typing.get_args(kind), value, path)
        return self._scalar(kind, value, path)

    def _union(self, kinds, value, path):
        """Returns the errors of the member of the union that matches best."""
        best = None
        for kind in kinds:
            errors = self.errors(kind, value, path)
            if not errors:
                return []
            weight = sum(error.weight for error in errors)
            if best is None or weight < best[0]:
                best = (weight, errors)
        return best[1] if best else [Error(path, "nothing is allowed here", OTHER_SHAPE)]

    def _literal(self, words, value, path):
        if any(value == word and type(value) is type(word) for word in words):
            return []
        listed = ", ".join(repr(word) for word in words)
        return [Error(path, f"{shown(value)} is not one of {listed}", OTHER_WORD)]

    def _object(self, kind, value, path):
        if not isinstance(value, dict):
            return [Error(path, f"{shown(value)} is not an object ({name_of(kind)})", OTHER_SHAPE)]
        members, rest = members_of(kind)
        errors = [
            Error(f"{path}.{name}", f"is missing ({name_of(kind)} requires it)", OTHER_TAG if name in TAGS else OTHER_WORD)
            for name, member in members.items()
            if member.is_required and name not in value
        ]
        for name, inner in value.items():
            place = f"{path}.{name}"
            if name in members:
                found = self.errors(members[name].kind, inner, place)
                errors += [replace(error, weight=OTHER_TAG) for error in found] if name in TAGS else nested(found)
            elif (name_of(kind), name) in self.extras:
                self.used.add((name_of(kind), name))
                errors += nested(self.errors(self.extras[name_of(kind), name], inner, place))
            elif rest is not None:
                errors += nested(self.errors(rest, inner, place))
            else:
                errors.append(Error(place, f"is unknown to {name_of(kind)}", OTHER_MEMBER))
        return errors

    def _list(self, arguments, value, path):
        if not isinstance(value, list):
            return [Error(path, f"{shown(value)} is not an array", OTHER_SHAPE)]
        kind = arguments[0] if arguments else object
        found = [error for at, item in enumerate(value) for error in self.errors(kind, item, f"{path}[{at}]")]
        return nested(found)

    def _map(self, arguments, value, path):
        if not isinstance(value, dict):
            return [Error(path, f"{shown(value)} is not an object", OTHER_SHAPE)]
        kind = arguments[1] if len(arguments) > 1 else object
        found = [error for name, item in value.items() for error in self.errors(kind, item, f"{path}.{name}")]
        return nested(found)

    def _scalar(self, kind, value, path):
        fits = {
            str: lambda: type(value) is str,
            bool: lambda: type(value) is bool,
            int: lambda: type(value) is int,
            float: lambda: type(value) in (int, float),
            type(None): lambda: value is None,
            None: lambda: value is None,
        }
        if kind in fits:
            return [] if fits[kind]() else [Error(path, f"{shown(value)} is not a valid {name_of(kind)}", OTHER_SHAPE)]
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._literal([word.value for word in kind], value, path)
        # Files, paths, dates and types that mean "not set" do not occur in a body.
        return [Error(path, f"{shown(value)} is not a valid {name_of(kind)}", OTHER_SHAPE)]


def nested(errors):
    """Returns the errors of a member or an item with the weight they have for the enclosing value."""
    return [replace(error, weight=max(error.weight // 10, 1)) for error in errors]


def bare(kind):
    """Returns the type without annotations and aliases."""
    while True:
        if isinstance(kind, ALIASES):
            kind = kind.__value__
        elif isinstance(typing_extensions.get_origin(kind), ALIASES):
            kind = typing_extensions.get_origin(kind).__value__[typing_extensions.get_args(kind)]
        elif typing_extensions.get_origin(kind) in WRAPPERS:
            kind = typing_extensions.get_args(kind)[0]
        elif isinstance(kind, typing.NewType):
            kind = kind.__supertype__
        else:
            return kind


def is_list(origin):
    # openai and groq define a protocol for sequences other than strings.
    return origin in LISTS or getattr(origin, "__name__", "") == "SequenceNotStr"


def is_map(origin):
    return origin in MAPS


def members_of(kind):
    """Returns the members of an object type and the type of further members, or None for any other type."""
    if not isinstance(kind, type) or kind.__name__ in MARKS:
        return None
    if typing_extensions.is_typeddict(kind):
        return members_of_dictionary(kind)
    if hasattr(kind, "model_fields"):
        return members_of_model(kind)
    return None


@functools.cache
def members_of_dictionary(kind):
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    members = {
        wire_name(name, hint): Member(hint, name in kind.__required_keys__ or is_marked_required(hint))
        for name, hint in hints.items()
    }
    rest = getattr(kind, "__extra_items__", None)
    is_open = rest is not None and rest is not getattr(typing_extensions, "NoExtraItems", None)
    return members, rest if is_open else None


def is_marked_required(hint):
    return typing_extensions.get_origin(hint) is typing.Required


def wire_name(name, hint):
    """Returns the serialized name, which openai, anthropic and groq annotate if it differs."""
    while typing_extensions.get_origin(hint) in WRAPPERS:
        for annotation in getattr(hint, "__metadata__", ()):
            if getattr(annotation, "alias", None):
                return annotation.alias
        hint = typing_extensions.get_args(hint)[0]
    return name


@functools.cache
def members_of_model(kind):
    members = {
        field.serialization_alias or field.alias or name: Member(field.annotation, field.is_required())
        for name, field in kind.model_fields.items()
    }
    is_open = kind.model_config.get("extra") == "allow"
    return members, object if is_open else None


def name_of(kind):
    return getattr(kind, "__qualname__", str(kind))


def shown(value):
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
