"""Holds a JSON value against a Python type, strictly.

The packages describe requests with typed dictionaries and pydantic models. Their own validation is made for callers,
not for us: it passes members that nobody knows, turns `"1"` into 1, reads iterables lazily and lets unknown words
through. Here nothing is converted, every member must be known, and every literal must be one that is listed.
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
# Marks by which packages say "not set" or "a word that this version does not know": no value of a body is one.
MARKS = {"Unset", "NotGiven", "Omit", "UnrecognizedStr", "UnrecognizedInt"}

# Members that say which object of a union it is.
TAGS = {"type", "role"}
# How much a fault tells that another member of a union was meant; a tenth of it for each step further in.
OTHER_SHAPE, OTHER_TAG, OTHER_MEMBER, OTHER_WORD = 100_000, 10_000, 5_000, 1_000


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, with the place in the body."""

    path: str
    problem: str
    weight: int

    def __str__(self):
        return f"{self.path}: {self.problem}"


@dataclass(frozen=True)
class Member:
    """One member of an object as its type has it."""

    kind: object
    is_required: bool


class Walker:
    """Walks values along types.

    `extras` are members that a type lacks: (the type's name, the member) to the member's type. `stand_ins` are types
    that write themselves as another: the name to what stands in the body.
    """

    def __init__(self, extras=None, stand_ins=None):
        self.extras = extras or {}
        self.stand_ins = stand_ins or {}
        self.used = set()

    def faults(self, kind, value, path="$"):
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
        """The faults of the member that comes nearest."""
        nearest = None
        for kind in kinds:
            faults = self.faults(kind, value, path)
            if not faults:
                return []
            weight = sum(fault.weight for fault in faults)
            if nearest is None or weight < nearest[0]:
                nearest = (weight, faults)
        return nearest[1] if nearest else [Fault(path, "nothing is allowed here", OTHER_SHAPE)]

    def _literal(self, words, value, path):
        if any(value == word and type(value) is type(word) for word in words):
            return []
        listed = ", ".join(repr(word) for word in words)
        return [Fault(path, f"{shown(value)} is not one of {listed}", OTHER_WORD)]

    def _object(self, kind, value, path):
        if not isinstance(value, dict):
            return [Fault(path, f"{shown(value)} is no object ({name_of(kind)})", OTHER_SHAPE)]
        members, rest = members_of(kind)
        faults = [
            Fault(f"{path}.{name}", f"is missing ({name_of(kind)} requires it)", OTHER_TAG if name in TAGS else OTHER_WORD)
            for name, member in members.items()
            if member.is_required and name not in value
        ]
        for name, inner in value.items():
            place = f"{path}.{name}"
            if name in members:
                found = self.faults(members[name].kind, inner, place)
                faults += [replace(fault, weight=OTHER_TAG) for fault in found] if name in TAGS else further_in(found)
            elif (name_of(kind), name) in self.extras:
                self.used.add((name_of(kind), name))
                faults += further_in(self.faults(self.extras[name_of(kind), name], inner, place))
            elif rest is not None:
                faults += further_in(self.faults(rest, inner, place))
            else:
                faults.append(Fault(place, f"is unknown to {name_of(kind)}", OTHER_MEMBER))
        return faults

    def _list(self, arguments, value, path):
        if not isinstance(value, list):
            return [Fault(path, f"{shown(value)} is no array", OTHER_SHAPE)]
        kind = arguments[0] if arguments else object
        found = [fault for at, item in enumerate(value) for fault in self.faults(kind, item, f"{path}[{at}]")]
        return further_in(found)

    def _map(self, arguments, value, path):
        if not isinstance(value, dict):
            return [Fault(path, f"{shown(value)} is no object", OTHER_SHAPE)]
        kind = arguments[1] if len(arguments) > 1 else object
        found = [fault for name, item in value.items() for fault in self.faults(kind, item, f"{path}.{name}")]
        return further_in(found)

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
            return [] if fits[kind]() else [Fault(path, f"{shown(value)} is no {name_of(kind)}", OTHER_SHAPE)]
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._literal([word.value for word in kind], value, path)
        # Files, paths, dates, marks: nothing that stands in a body.
        return [Fault(path, f"{shown(value)} is no {name_of(kind)}", OTHER_SHAPE)]


def further_in(faults):
    """The faults of a member or an item: they tell less of the whole."""
    return [replace(fault, weight=max(fault.weight // 10, 1)) for fault in faults]


def bare(kind):
    """The type without the notes around it and the names it goes by."""
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
    # openai's and groq's name for a sequence that is no string is a protocol.
    return origin in LISTS or getattr(origin, "__name__", "") == "SequenceNotStr"


def is_map(origin):
    return origin in MAPS


def members_of(kind):
    """The members of a type of objects, and the type of all others; none when it is no such type."""
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
    """openai, anthropic and groq note another name on the wire beside the type."""
    while typing_extensions.get_origin(hint) in WRAPPERS:
        for note in getattr(hint, "__metadata__", ()):
            if getattr(note, "alias", None):
                return note.alias
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
