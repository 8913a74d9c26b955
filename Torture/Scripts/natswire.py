"""A client of NATS by hand: what an attacker can send, or an administrator."""

import json
import os
import socket

import network


class Refused(Exception):
    """The server ended the connection or said no."""


class Nats:
    """One connection, from a place of the network."""

    def __init__(self, place, address, user=None, password=None):
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        network.enter(place.namespace)
        try:
            # A socket stays in the namespace in which it was made.
            self.socket = socket.socket()
        finally:
            network.enter(home)
            os.close(home)
        self.socket.settimeout(20)
        self.socket.connect(address)
        self.bytes = b""
        self.errors = []
        self.inbox = "_INBOX.%s" % (user or "x")
        self.requests = 0
        self.line()
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
        if user:
            options.update(user=user, **{"pass": password})
        self.send(b"CONNECT %s\r\n" % json.dumps(options).encode())
        self.flush()

    def send(self, data):
        self.socket.sendall(data)

    def more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise Refused("the server has closed: %s" % self.errors)
        self.bytes += data

    def line(self):
        while b"\r\n" not in self.bytes:
            self.more()
        line, self.bytes = self.bytes.split(b"\r\n", 1)
        return line

    def take(self, count):
        while len(self.bytes) < count + 2:
            self.more()
        data, self.bytes = self.bytes[:count], self.bytes[count + 2 :]
        return data

    def next(self):
        """The next message, `(subject, reply, headers, body)`; None for a PONG."""
        while True:
            line = self.line()
            verb, *words = line.split()
            if verb == b"PING":
                self.send(b"PONG\r\n")
            elif verb == b"PONG":
                return None
            elif verb == b"-ERR":
                self.errors.append(line.decode(errors="replace"))
            elif verb == b"MSG":
                body = self.take(int(words[-1]))
                return words[0].decode(), words[2].decode() if len(words) > 3 else None, b"", body
            elif verb == b"HMSG":
                both = self.take(int(words[-1]))
                length = int(words[-2])
                reply = words[2].decode() if len(words) > 4 else None
                return words[0].decode(), reply, both[:length], both[length:]

    def flush(self):
        """Waits until the server has taken all that was sent."""
        self.send(b"PING\r\n")
        while self.next() is not None:
            pass

    def subscribe(self, subject, number=1):
        self.send(b"SUB %s %d\r\n" % (subject.encode(), number))

    def publish(self, subject, body, headers=b"", reply=""):
        """`headers` is a block as it is on the wire, or nothing."""
        if headers:
            self.send(b"HPUB %s %s %d %d\r\n%s%s\r\n" % (
                subject.encode(), reply.encode(), len(headers), len(headers) + len(body), headers,
                body))
        else:
            self.send(b"PUB %s %s %d\r\n%s\r\n" % (
                subject.encode(), reply.encode(), len(body), body))

    def request(self, subject, payload=None):
        """The answer to a request of JetStream, parsed."""
        self.requests += 1
        reply = "%s.r%d" % (self.inbox, self.requests)
        self.subscribe(reply, self.requests + 1000)
        self.publish(subject, json.dumps(payload).encode() if payload else b"", reply=reply)
        while True:
            message = self.next()
            if message and message[0] == reply:
                if not message[3]:
                    raise Refused(message[2].decode(errors="replace"))
                return json.loads(message[3])


def block(headers):
    """Headers as they are on the wire."""
    return b"NATS/1.0\r\n%s\r\n" % b"".join(
        b"%s: %s\r\n" % (name.encode(), value.encode()) for name, value in headers)


def pairs(headers):
    """The headers of a block."""
    lines = headers.decode().split("\r\n")[1:]
    return [tuple(line.split(": ", 1)) for line in lines if ": " in line]
