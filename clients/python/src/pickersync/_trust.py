"""Where the daemon is, and whether it is really this user's daemon.

The rules are those of docs/PROTOCOL.md, "Where the daemon is", word by word. Nothing is sent to a
peer that has not passed them. Root has no exemption.
"""

from __future__ import annotations

import os
import pwd
import socket
import stat
import struct
from dataclasses import dataclass
from typing import Iterator, Mapping, Optional

from ._errors import UntrustedDaemon

#: The socket of the system's daemon.
SYSTEM_SOCKET = "/run/pickersync/sock"

_ROOT = 0
#: As many symbolic links as the kernel follows in one path.
_LINKS_MAX = 40
#: pid, uid and gid, as SO_PEERCRED gives them.
_CREDENTIALS = struct.Struct("iII")


@dataclass(frozen=True)
class Place:
    """A socket where the daemon may be."""

    path: str
    #: Whether it is in the user's runtime folder or in /tmp/pickersync-UID.
    is_own: bool
    uid: int

    def check_folder(self) -> None:
        """Before connecting: `UntrustedDaemon` where somebody else could have put a socket there.
        `OSError` where the folder cannot be looked at."""
        if not self.is_own:
            return
        folder = os.path.dirname(self.path)
        problem = _unsafe(folder, self.uid)
        if problem is None and os.path.lexists(folder):
            facts = os.lstat(folder)
            if stat.S_ISLNK(facts.st_mode):
                problem = f"{folder} is a symbolic link"
            elif facts.st_uid != self.uid:
                problem = f"{folder} belongs to {user_name(facts.st_uid)}"
            elif facts.st_mode & 0o022:
                problem = f"{folder} can be written by others (mode {facts.st_mode & 0o7777:o})"
        if problem is not None:
            raise UntrustedDaemon(f"{problem}; not connecting to {self.path}")

    def check_peer(self, stream: socket.socket) -> None:
        """After connecting, before the first byte: `UntrustedDaemon` where another user listens."""
        uid = peer_uid(stream)
        if uid == self.uid:
            return
        if not self.is_own and (uid == _ROOT or uid == self._folder_owner()):
            return
        expected = user_name(self.uid) + ("" if self.is_own else ", root or the folder's owner")
        raise UntrustedDaemon(
            f"the daemon at {self.path} runs as {user_name(uid)}, not as {expected}; "
            "nothing was sent")

    def _folder_owner(self) -> Optional[int]:
        """The owner of the socket's folder, where nobody else can put that folder there."""
        folder = os.path.dirname(os.path.abspath(self.path))
        try:
            owner = os.stat(folder).st_uid
            return owner if _unsafe(folder, owner, allows_sticky=False) is None else None
        except OSError:
            return None


def places(
    explicit: Optional[str], environment: Mapping[str, str], uid: Optional[int] = None,
    system_socket: str = SYSTEM_SOCKET,
) -> Iterator[Place]:
    """Where the daemon may be, in order. Each is tried only if nobody answers at the one before."""
    user = os.geteuid() if uid is None else uid
    named = explicit or environment.get("PICKERSYNC_SOCKET")
    if named:
        yield Place(named, False, user)
        return
    runtime = _runtime_folder(environment, user)
    if runtime is not None:
        yield Place(os.path.join(runtime, "sock"), True, user)
        if _has_store(environment):
            return
    if os.path.lexists(system_socket):
        yield Place(system_socket, False, user)
    elif runtime is None:
        yield Place(f"/tmp/pickersync-{user}/sock", True, user)


def peer_uid(stream: socket.socket) -> int:
    """The uid of the user that listens at the other end (SO_PEERCRED)."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        raise UntrustedDaemon("this system does not say who listens on a socket")
    raw = stream.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    uid: int = _CREDENTIALS.unpack(raw)[1]
    return uid


def user_name(uid: int) -> str:
    """A user's name with the uid."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _runtime_folder(environment: Mapping[str, str], uid: int) -> Optional[str]:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if _is_usable(runtime, uid):
        return os.path.join(runtime, "pickersync")
    standard = f"/run/user/{uid}"
    return os.path.join(standard, "pickersync") if os.path.isdir(standard) else None


def _is_usable(runtime: str, uid: int) -> bool:
    """Whether a value of XDG_RUNTIME_DIR may be used."""
    if not runtime.startswith("/") or _unsafe(runtime, uid) is not None:
        return False
    if not os.path.lexists(runtime):
        return True
    facts = os.lstat(runtime)
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == uid


def _has_store(environment: Mapping[str, str]) -> bool:
    """Whether the user has a store: then the user's own daemon is meant, and no other."""
    state, home = environment.get("XDG_STATE_HOME", ""), environment.get("HOME", "")
    if not state.startswith("/"):
        if not home.startswith("/"):
            return False
        state = os.path.join(home, ".local/state")
    return os.path.lexists(os.path.join(state, "pickersync/pickersync.db"))


def _unsafe(path: str, uid: int, *, allows_sticky: bool = True) -> Optional[str]:
    """Why a path is not safe for a user; None where it is.

    The components that do not exist yet are not looked at. `..` is resolved by the file system's
    own links, after symbolic links.
    """
    names = [name for name in path.split("/") if name not in ("", ".")]
    here, links = "/", 0
    problem = _unsafe_folder(here, os.lstat(here), uid, allows_sticky)
    while names and problem is None:
        name = names.pop(0)
        if name == "..":
            here = os.path.dirname(here)
            continue
        below = os.path.join(here, name)
        try:
            facts = os.lstat(below)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{below} cannot be looked at: {error.strerror}"
        if not stat.S_ISLNK(facts.st_mode):
            here = below
            problem = _unsafe_folder(here, facts, uid, allows_sticky)
            continue
        links += 1
        if facts.st_uid not in (_ROOT, uid):
            return f"{below} is a symbolic link of {user_name(facts.st_uid)}"
        if links > _LINKS_MAX:
            return f"{below} leads through too many symbolic links"
        target = os.readlink(below)
        if target.startswith("/"):
            here = "/"
        names[:0] = [one for one in target.split("/") if one not in ("", ".")]
    return problem


def _unsafe_folder(
    folder: str, facts: os.stat_result, uid: int, allows_sticky: bool
) -> Optional[str]:
    if not stat.S_ISDIR(facts.st_mode):
        return f"{folder} is not a folder"
    if facts.st_uid not in (_ROOT, uid):
        return f"{folder} belongs to {user_name(facts.st_uid)}"
    is_sticky = bool(facts.st_mode & stat.S_ISVTX)
    if is_sticky and not allows_sticky:
        return f"{folder} takes folders of anybody"
    # A group with the number of its owner is the owner's private group.
    others = 0o002 if facts.st_gid == facts.st_uid else 0o022
    if facts.st_mode & others and not is_sticky:
        return f"{folder} can be written by others (mode {facts.st_mode & 0o7777:o})"
    return None
