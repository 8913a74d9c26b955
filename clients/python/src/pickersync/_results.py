"""What the daemon tells, typed. Members that are new to this version are passed over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar, Union

from ._errors import ProtocolViolation
from ._text import shown

#: A value as JSON has it: None, bool, int, float, str, list or dict.
JSON = Union[None, bool, int, float, str, List[Any], Dict[str, Any]]

T = TypeVar("T")


def member(json: Mapping[str, Any], name: str, kind: Type[T]) -> T:
    """A member of this type; `ProtocolViolation` where there is none. No bool is an int."""
    value = json.get(name)
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise ProtocolViolation(f"an answer whose member {shown(name, 100)} is not {kind.__name__}")


def optional(json: Mapping[str, Any], name: str, kind: Type[T]) -> Optional[T]:
    """A member of this type, or None where it is missing or null."""
    return None if json.get(name) is None else member(json, name, kind)


def objects(json: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """A member that is a list of objects; empty where it is missing."""
    items: list[Any] = optional(json, name, list) or []
    if not all(isinstance(one, dict) for one in items):
        raise ProtocolViolation(f"an answer whose member {shown(name, 100)} holds no objects")
    return items


def _names(json: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(str(one) for one in optional(json, name, list) or ())


@dataclass(frozen=True)
class Author:
    """Who made an edit. `user`, `uid` and `connection` come from the kernel and the daemon; the
    others are what the client said about itself."""

    user: str
    uid: int
    connection: int
    replica: str
    client: Optional[str] = None
    tty: Optional[str] = None

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Author:
        return cls(
            user=member(json, "user", str), uid=member(json, "uid", int),
            connection=member(json, "connection", int), replica=member(json, "replica", str),
            client=optional(json, "client", str), tty=optional(json, "tty", str))


def _author(json: Mapping[str, Any]) -> Optional[Author]:
    by = optional(json, "by", dict)
    return None if by is None else Author.read(by)


@dataclass(frozen=True)
class Sibling:
    """A value that was set at the same time as the one that readers see."""

    value: JSON
    by: Optional[Author] = None
    at: Optional[str] = None


@dataclass(frozen=True)
class Lease:
    """When a value ends by itself, and what comes then."""

    id: str
    #: RFC 3339, in UTC; None while a connection holds it.
    until: Optional[str]
    by: Optional[Author]
    #: The value that comes then; None where `resets`.
    then: JSON = None
    #: Whether the field is unset then, and shows its default.
    resets: bool = False

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Lease:
        then = member(json, "then", dict)
        return cls(
            id=member(json, "id", str), until=optional(json, "until", str), by=_author(json),
            then=then.get("value"), resets=bool(then.get("unset")))


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
    #: When the value ends by itself; None if it does not.
    lease: Optional[Lease] = None
    #: Of a secure field, whether it has a value.
    has_secret: Optional[bool] = None
    is_mixed: bool = False
    is_invalid: bool = False
    is_missing: bool = False
    #: Of a button with `runs`: `waiting`, `running` and `last`, as in the protocol.
    runs: Optional[Mapping[str, Any]] = None
    #: In the answer to a press of such a button: the name of the press.
    press: Optional[str] = None

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Field:
        secret = optional(json, "secret", dict)
        lease = optional(json, "lease", dict)
        return cls(
            value=json["value"], revision=member(json, "revision", int),
            is_set=member(json, "set", bool), by=_author(json), at=optional(json, "at", str),
            conflict=tuple(
                Sibling(one["value"], _author(one), optional(one, "at", str))
                for one in objects(json, "conflict")),
            lease=None if lease is None else Lease.read(lease),
            has_secret=None if secret is None else member(secret, "set", bool),
            is_mixed=bool(json.get("mixed")), is_invalid=bool(json.get("invalid")),
            is_missing=bool(json.get("missing")), runs=optional(json, "runs", dict),
            press=optional(json, "press", str))


@dataclass(frozen=True)
class Proposal:
    """A change that waits for the approval of others, or what became of it."""

    id: int
    form: str
    #: waits, applied, refused, withdrawn, expired or stale.
    state: str
    by: Optional[Author]
    #: RFC 3339, in UTC.
    at: Optional[str]
    #: When it expires.
    until: Optional[str]
    message: Optional[str]
    #: The values that it would set, as in the protocol; empty where it changes the definition.
    changes: tuple[Mapping[str, Any], ...]
    #: The guarded fields whose approval it asks for.
    fields: tuple[str, ...]
    #: How many approvals are missing.
    needs: int
    votes: tuple[Mapping[str, Any], ...]
    #: How it ended: `at`, and `by`, `message`, `revision` and `why` where they are known.
    ended: Optional[Mapping[str, Any]] = None

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Proposal:
        return cls(
            id=member(json, "id", int), form=member(json, "form", str),
            state=member(json, "state", str), by=_author(json), at=optional(json, "at", str),
            until=optional(json, "until", str), message=optional(json, "message", str),
            changes=tuple(objects(json, "changes")), fields=_names(json, "fields"),
            needs=member(json, "needs", int), votes=tuple(objects(json, "votes")),
            ended=optional(json, "ended", dict))

    @classmethod
    def of_answer(cls, json: Mapping[str, Any]) -> Proposal:
        """The proposal of an answer that has one."""
        return cls.read(member(json, "proposal", dict))


@dataclass(frozen=True)
class Change:
    """A field that changed: what it is now, and what it was."""

    field: str
    now: Field
    #: None where it is not told: of a secret, and of changes that were folded together.
    was: JSON = None

    @property
    def value(self) -> JSON:
        """What it is now."""
        return self.now.value

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Change:
        return cls(
            field=member(json, "field", str), now=Field.read(json), was=json.get("was"))


@dataclass(frozen=True)
class Press:
    """One press of a button."""

    field: str
    #: Its number among all presses of this button, from 1.
    number: int
    #: Who pressed. None for presses that were folded together with a later one.
    by: Optional[Author] = None
    #: When, RFC 3339 in UTC. None as `by` is.
    at: Optional[str] = None


@dataclass(frozen=True)
class Since:
    """A place in a form's line of revisions: keep it, and a later watch resumes from it."""

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

    @property
    def since(self) -> Since:
        """Where a later watch resumes."""
        return Since(self.log, self.revision)

    def __getitem__(self, name: str) -> Field:
        return self.fields[name]

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Snapshot:
        return cls(
            form=member(json, "form", str), log=member(json, "log", str),
            revision=member(json, "revision", int), context=member(json, "context", str),
            fields=fields(json))


@dataclass(frozen=True)
class Committed:
    """What an edit did. It is durable."""

    form: str
    revision: int
    context: str
    fields: Mapping[str, Field]
    #: Of undo and redo, the fields that somebody has overwritten since.
    skipped: tuple[str, ...] = ()

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Committed:
        return cls(
            form=member(json, "form", str), revision=member(json, "revision", int),
            context=member(json, "context", str), fields=fields(json),
            skipped=_names(json, "skipped"))


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
            form=member(json, "form", str), version=member(json, "version", int),
            revision=member(json, "revision", int), created=member(json, "created", bool),
            **{name: _names(json, name)
               for name in ("added", "kept", "invalid", "reset", "removed")})


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
            form=member(json, "form", str), version=member(json, "version", int),
            revision=member(json, "revision", int), fields=member(json, "fields", int),
            subscribers=member(json, "subscribers", int), title=optional(json, "title", str))


@dataclass(frozen=True)
class Update:
    """One step of a watch: a revision, several folded into one, or a snapshot to start from."""

    form: str
    log: str
    revision: int
    context: str
    changes: tuple[Change, ...]
    #: These are all fields: the watch begins here, or could not resume where it was.
    is_snapshot: bool = False
    #: The first revision that is folded into this one.
    coalesced_from: Optional[int] = None
    #: The definition, where that changed.
    definition: Optional[Mapping[str, Any]] = None

    @property
    def since(self) -> Since:
        """Where a later watch resumes."""
        return Since(self.log, self.revision)

    @property
    def values(self) -> dict[str, JSON]:
        """The new values of the fields that changed."""
        return {change.field: change.value for change in self.changes}


@dataclass(frozen=True)
class PastChange:
    """A field in an entry of the history."""

    field: str
    value: JSON
    was: JSON = None
    #: Whether the value lost to one that was set at the same time.
    concurrent: bool = False


@dataclass(frozen=True)
class HistoryEntry:
    """One transaction of the past."""

    revision: int
    #: RFC 3339, in UTC.
    at: Optional[str]
    by: Optional[Author]
    #: set, undo, redo, apply, …
    kind: str
    changes: tuple[PastChange, ...]
    #: Why it was changed; None if nobody said.
    message: Optional[str] = None
    #: The revision whose message was overwritten, in an entry of the kind redact.
    redacts: Optional[int] = None

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> HistoryEntry:
        return cls(
            revision=member(json, "revision", int), at=optional(json, "at", str),
            by=_author(json), kind=member(json, "kind", str),
            changes=tuple(
                PastChange(
                    member(one, "field", str), one.get("value"), one.get("was"),
                    bool(one.get("concurrent")))
                for one in objects(json, "changes")),
            message=optional(json, "message", str), redacts=optional(json, "redacts", int))


@dataclass(frozen=True)
class Explanation:
    """Why a field has its value. `facts` has everything, as the protocol describes it."""

    field: str
    #: The revision of the form that is explained.
    revision: int
    #: What readers see; None if history no longer has it.
    state: Optional[Field]
    #: default, set, counted, bound, sources, lease, pressed or label.
    origin: Optional[str]
    #: Who changed it last; None if nobody has.
    by: Optional[Author]
    #: Why; None if nobody said.
    message: Optional[str]
    #: Whether this user may change it; None for a label and for an earlier revision.
    may_edit: Optional[bool]
    #: access, locked, disabled, condition, store: what forbids it.
    because: tuple[str, ...]
    facts: Mapping[str, Any]

    @classmethod
    def read(cls, json: Mapping[str, Any]) -> Explanation:
        state, origin, change, may = (
            optional(json, name, dict) or {} for name in ("state", "origin", "change", "may"))
        return cls(
            field=member(json, "field", str), revision=member(json, "revision", int),
            state=Field.read(state) if state else None, origin=optional(origin, "kind", str),
            by=_author(change), message=optional(change, "message", str),
            may_edit=optional(may, "edit", bool),
            because=tuple(member(one, "reason", str) for one in objects(may, "because"))
            if "because" in may else (), facts=json)


#: Fields of the largest form that a daemon can be configured to take (`fieldsMax`).
FIELDS_MAX = 100_000


def follow(known: Dict[str, T], update: Update, new: Mapping[str, T]) -> None:
    """Adds to what is known of the fields of a form, and forgets fields that it has no longer:
    whatever comes, this is bounded. `ProtocolViolation` where a form has too many fields."""
    forget(known, update)
    known.update(new)
    check_bound(known)


def forget(known: Dict[str, T], update: Update) -> None:
    """Forgets fields that the form has no longer."""
    if update.is_snapshot:
        there = {change.field for change in update.changes}
    elif update.definition is not None:
        there = field_ids(update.definition)
    else:
        return
    for name in [one for one in known if one not in there]:
        del known[name]


def check_bound(known: Mapping[str, T]) -> None:
    """`ProtocolViolation` where a form has too many fields."""
    if len(known) > FIELDS_MAX:
        raise ProtocolViolation(f"a form with more than {FIELDS_MAX} fields")


def field_ids(definition: Mapping[str, Any]) -> set[str]:
    """The ids of the fields of a definition."""
    lists = [definition, *objects(definition, "sections")]
    return {member(one, "id", str) for part in lists for one in objects(part, "fields")}


def fields(json: Mapping[str, Any]) -> dict[str, Field]:
    """The member `fields`, read."""
    return {name: Field.read(field) for name, field in member(json, "fields", dict).items()}
