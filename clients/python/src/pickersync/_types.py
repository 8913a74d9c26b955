"""What the daemon tells, typed; members that are new to this version are passed over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Union

#: A value as JSON has it: None, bool, int, float, str, list or dict.
JSON = Union[None, bool, int, float, str, List[Any], Dict[str, Any]]


@dataclass(frozen=True)
class Author:
    """Who made an edit. `user`, `uid`, `connection` are the kernel's word, the others claims."""

    user: str
    uid: int
    connection: int
    replica: str
    client: Optional[str] = None
    tty: Optional[str] = None

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Author:
        return cls(
            user=json["user"], uid=json["uid"], connection=json["connection"],
            replica=json["replica"], client=json.get("client"), tty=json.get("tty"))


def _author(json: Mapping[str, Any]) -> Optional[Author]:
    by = json.get("by")
    return None if by is None else Author.read(by)


@dataclass(frozen=True)
class Sibling:
    """A value that was set at the same time as the one that stands."""

    value: JSON
    by: Optional[Author] = None
    at: Optional[str] = None


@dataclass(frozen=True)
class Field:
    """A field as readers see it."""

    value: JSON
    revision: int
    #: Whether anybody has set it; otherwise it follows its default.
    is_set: bool
    by: Optional[Author] = None
    #: RFC 3339, in UTC.
    at: Optional[str] = None
    conflict: tuple[Sibling, ...] = ()
    #: Of a secure field, whether it has a value.
    has_secret: Optional[bool] = None
    is_mixed: bool = False
    is_invalid: bool = False
    is_missing: bool = False

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Field:
        secret = json.get("secret")
        return cls(
            value=json["value"], revision=json["revision"], is_set=json["set"],
            by=_author(json), at=json.get("at"),
            conflict=tuple(
                Sibling(one["value"], _author(one), one.get("at"))
                for one in json.get("conflict", ())),
            has_secret=None if secret is None else bool(secret["set"]),
            is_mixed=json.get("mixed", False), is_invalid=json.get("invalid", False),
            is_missing=json.get("missing", False))


@dataclass(frozen=True)
class Change:
    """A field that changed: what it is now, and what it was."""

    field: str
    now: Field
    #: None where it is not told: of a secret, of what was folded together.
    was: JSON = None

    @property
    def value(self) -> JSON:
        return self.now.value

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Change:
        return cls(field=json["field"], now=Field.read(json), was=json.get("was"))


@dataclass(frozen=True)
class Since:
    """A place in a form's line of revisions, to go on from: keep it and hand it to `watch`."""

    log: str
    revision: int


@dataclass(frozen=True)
class Snapshot:
    """A reading of a form: all of one revision."""

    form: str
    log: str
    revision: int
    #: The token of what this shows, to be handed back with edits of it.
    context: str
    fields: Mapping[str, Field]

    @property
    def values(self) -> dict[str, JSON]:
        """The values alone."""
        return {name: field.value for name, field in self.fields.items()}

    def __getitem__(self, name: str) -> Field:
        return self.fields[name]

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Snapshot:
        return cls(
            form=json["form"], log=json["log"], revision=json["revision"],
            context=json["context"], fields=_fields(json["fields"]))


@dataclass(frozen=True)
class Committed:
    """What an edit did; it is durable."""

    form: str
    revision: int
    context: str
    fields: Mapping[str, Field]
    #: Of undo and redo, the fields that somebody has overwritten since.
    skipped: tuple[str, ...] = ()

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Committed:
        return cls(
            form=json["form"], revision=json["revision"], context=json["context"],
            fields=_fields(json["fields"]), skipped=tuple(json.get("skipped", ())))


@dataclass(frozen=True)
class Applied:
    """What became of a form's fields under a new definition, or would."""

    form: str
    version: int
    revision: int
    created: bool
    added: tuple[str, ...]
    kept: tuple[str, ...]
    invalid: tuple[str, ...]
    reset: tuple[str, ...]
    removed: tuple[str, ...]

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Applied:
        return cls(
            form=json["form"], version=json["version"], revision=json["revision"],
            created=json["created"], added=tuple(json["added"]), kept=tuple(json["kept"]),
            invalid=tuple(json["invalid"]), reset=tuple(json["reset"]),
            removed=tuple(json["removed"]))


@dataclass(frozen=True)
class FormSummary:
    """A form of the daemon."""

    form: str
    version: int
    revision: int
    fields: int
    subscribers: int
    title: Optional[str] = None

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> FormSummary:
        return cls(
            form=json["form"], version=json["version"], revision=json["revision"],
            fields=json["fields"], subscribers=json["subscribers"], title=json.get("title"))


@dataclass(frozen=True)
class Update:
    """One step of a watch: a revision, several folded into one, or a snapshot to start from."""

    form: str
    log: str
    revision: int
    context: str
    changes: tuple[Change, ...]
    #: These are all fields: where the watch began, or could not go on from where it was.
    is_snapshot: bool = False
    #: The first revision that is folded into this one.
    coalesced_from: Optional[int] = None
    #: The definition, where that changed.
    definition: Optional[Mapping[str, Any]] = None

    @property
    def since(self) -> Since:
        """Where a later watch goes on from."""
        return Since(self.log, self.revision)


def _fields(json: Mapping[str, Any]) -> dict[str, Field]:
    return {name: Field.read(field) for name, field in json.items()}
