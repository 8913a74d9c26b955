"""A small service: it deploys what a form says when somebody presses Deploy.

    pickerctl form apply rollout.yaml
    python3 rollout.py PLACE

PLACE is a file in which it keeps how far it has come: started again, it handles what was pressed
while it was away. SIGTERM ends it after the deployment that is under way.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Optional

import pickersync


class Version(Enum):
    V1 = "v1"
    V2 = "v2"
    V3 = "v3"


@dataclass
class Settings:
    version: Version
    share: int


def load(place: Path) -> Optional[pickersync.Since]:
    """Where the last run stopped."""
    try:
        return pickersync.Since(**json.loads(place.read_text()))
    except FileNotFoundError:
        return None


def store(place: Path, since: pickersync.Since) -> None:
    """Keeps where this run is, whole or not at all."""
    new = place.with_suffix(".new")
    new.write_text(json.dumps({"log": since.log, "revision": since.revision}))
    os.replace(new, place)


def main(place: Path) -> None:
    with pickersync.connect(name="rollout") as client:
        form = client.form("rollout")
        settings = form.bind(Settings)

        @form.on_change("share", initial=True)
        def share_changed(change: pickersync.Change) -> None:
            print(f"share of traffic: {change.value} %", flush=True)

        @form.on_press("deploy")
        def deploy(press: pickersync.Press) -> None:
            wanted = settings.read()
            print(f"deployment {press.number}: {wanted.version.value} by "
                  f"{press.by.user if press.by else 'somebody'}", flush=True)
            # The key makes it one deployment, also where this process dies before it is kept.
            edit = pickersync.Edit().set("running", wanted.version).increment("deployments")
            form.commit(edit, key=f"rollout-{press.number}")

        signal.signal(signal.SIGTERM, lambda number, frame: form.stop())
        form.run(since=load(place), keep=lambda since: store(place, since))
        print("stopped", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
