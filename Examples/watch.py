#!/usr/bin/env python3
"""Prints every change of a form: watch.py FORM [SOCKET]. Python's standard library alone."""
import itertools, json, os, socket, struct, sys

form = sys.argv[1]
runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
named = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("PICKERSYNC_SOCKET")
path = named or f"{runtime}/pickersync/sock"

connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
connection.connect(path)
# Who listens? Only a daemon of this user, or root's on a socket that was named, gets a request.
credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
_, uid, _ = struct.unpack("iII", credentials)
if uid != os.geteuid() and not (named and uid == 0):
    sys.exit(f"uid {uid} listens at {path}: not your daemon; nothing was sent")
stream = connection.makefile("rwb")
ids = itertools.count(1)


def call(method, **params):
    message = {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": params}
    text = json.dumps(message).encode()
    stream.write(struct.pack(">I", len(text)) + text)  # a frame: length, then JSON
    stream.flush()


def messages():
    while header := stream.read(4):
        yield json.loads(stream.read(struct.unpack(">I", header)[0]))


call("state.subscribe", form=form)
for message in messages():
    if "error" in message:
        sys.exit(message["error"]["message"])
    if "result" in message:
        print(f"watching {form} from revision {message['result']['revision']}", flush=True)
    elif message["method"] == "goodbye":
        sys.exit(f"the daemon left: {message['params']['reason']}")
    for change in message.get("params", {}).get("changes", []):
        by = change.get("by", {}).get("user", "nobody")
        print(f"{change['revision']}\t{change['field']}={json.dumps(change['value'])}\t{by}",
              flush=True)
