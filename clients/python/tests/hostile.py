"""A daemon that lies: a socket whose answers are written by a test."""

from __future__ import annotations

import json
import os
import socket
import struct
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Optional

Message = dict[str, Any]

#: What a connection is given to after its hello: the socket, and the requests that come.
Behaviour = Callable[["Peer"], None]


def frame(text: bytes) -> bytes:
    return struct.pack(">I", len(text)) + text


class Peer:
    """The daemon's end of one connection."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream

    def send(self, message: Any) -> None:
        self.stream.sendall(frame(json.dumps(message).encode()))

    def answer(self, request: Message, result: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def refuse(self, request: Message, message: str, kind: str, **data: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request["id"], "error": {
            "code": -32001, "message": message, "data": {"kind": kind, **data}}})

    def request(self) -> Message:
        message: Message = json.loads(self._exactly(struct.unpack(">I", self._exactly(4))[0]))
        return message

    def hear_hello(self, **more: Any) -> None:
        self.answer(self.request(), {"limits": {"maxFrame": 1 << 20}, **more})

    def wait(self) -> None:
        """Until the client is gone."""
        try:
            while self.stream.recv(65536):
                pass
        except OSError:
            pass

    def _exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            piece = self.stream.recv(length - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data


class HostileDaemon:
    """Listens in a folder of its own and lets `behaviour` speak with each connection."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._folder = tempfile.TemporaryDirectory(prefix="pickersync-")
        self.path = str(Path(self._folder.name) / "sock")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(8)
        self._streams: list[socket.socket] = []
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            self._streams.append(stream)
            self.connections += 1
            threading.Thread(target=self._serve, args=(stream,), daemon=True).start()

    def _serve(self, stream: socket.socket) -> None:
        try:
            self._behaviour(Peer(stream))
        except (OSError, ConnectionError):
            pass
        finally:
            stream.close()

    def close(self) -> None:
        for stream in [self._listener, *self._streams]:
            try:
                stream.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            stream.close()
        self._folder.cleanup()


def resident_bytes() -> int:
    """The memory of this process now."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def subscribe(peer: Peer) -> str:
    """Answers the next request as a subscription to a form without fields."""
    request = peer.request()
    peer.answer(request, {
        "resumed": False, "form": "f", "log": "l", "revision": 1, "context": "", "fields": {}})
    return str(request["method"])


def changed(revision: int, values: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    return {"method": "state.changed", "params": {
        "form": "f", "revision": revision, "context": "", "changes": [
            {"field": name, "value": value, "revision": revision, "set": True}
            for name, value in (values or {}).items()]}}
