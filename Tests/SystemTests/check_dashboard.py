"""Asks a real Prometheus what the dashboard asks.

Usage: check_dashboard.py DASHBOARD PROMETHEUS PICKERCTL SOCKET. A Prometheus of this test's own reads
what `pickerctl status -o prometheus` writes, as often as it asks; then every query of the dashboard
must be answered with data. What of the dashboard Grafana would not take is told too. Prints what is
wrong, a line each, and exits 1 then.
"""

import http.server
import json
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

dashboard = json.loads(Path(sys.argv[1]).read_text())
prometheus, pickerctl, daemon = sys.argv[2:5]
SECONDS_MAX = 120
faults = []


class Exporter(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        done = subprocess.run(
            [pickerctl, "--socket", daemon, "status", "-o", "prometheus"], capture_output=True)
        self.send_response(200 if done.returncode == 0 else 500)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(done.stdout)

    def log_message(self, *arguments):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def asked(port, path, **parameters):
    address = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        if error.code == 503:
            return None  # It listens before it is up.
        return faults.append(f"{parameters}: {error.read().decode()}")
    except (urllib.error.URLError, ConnectionError):
        return None  # It is not up yet.


def result(port, query):
    return (asked(port, "query", query=query) or {}).get("result", [])


def check_queries(port):
    end = time.monotonic() + SECONDS_MAX
    # A rate needs two readings.
    while not result(port, "count_over_time(pickersync_build_info[1m]) >= 3"):
        if faults or time.monotonic() > end:
            return faults.append("Prometheus has not read the metrics three times")
        time.sleep(0.2)
    queries = 0
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            queries += 1
            query = target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
            if not result(port, query):
                faults.append(f"{panel['title']}: no data for {query}")
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(
                r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
            if not asked(port, f"label/{label}/values", **{"match[]": metric}):
                faults.append(f"{variable['name']}: {metric} has no {label}")
    return queries


def check_model():
    """What Grafana's import needs: panels side by side, queries with names, known variables."""
    known = {variable["name"] for variable in dashboard["templating"]["list"]}
    known |= {"__rate_interval", "__interval", "__range"}
    taken = {}
    if dashboard.get("id") is not None:
        faults.append("the dashboard has an id, which its import must not have")
    for panel in dashboard["panels"]:
        place, title = panel["gridPos"], panel["title"]
        if place["x"] + place["w"] > 24:
            faults.append(f"{title} is outside of the 24 columns")
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                other = taken.setdefault((x, y), title)
                if other != title:
                    faults.append(f"{title} lies over {other}")
        names = [target["refId"] for target in panel["targets"]]
        if len(set(names)) != len(names):
            faults.append(f"{title}: two queries have one refId")
        for name in re.findall(r"\$\{?(\w+)", json.dumps(panel)):
            if name not in known:
                faults.append(f"{title}: there is no variable {name}")


exporter = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
threading.Thread(target=exporter.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as folder:
    target = f"127.0.0.1:{exporter.server_address[1]}"
    configuration = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [
            {"job_name": "pickersync", "static_configs": [{"targets": [target]}]}]}
    # JSON is YAML.
    Path(folder, "prometheus.yml").write_text(json.dumps(configuration))
    port = free_port()
    with Path(folder, "log").open("wb") as log:
        server = subprocess.Popen(
            [prometheus, f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        queries = check_queries(port)
    finally:
        server.kill()
        server.wait()
    if faults:
        faults.append(Path(folder, "log").read_text(errors="replace")[-2000:])
check_model()
print("\n".join(faults) if faults else f"{queries} queries are answered")
sys.exit(1 if faults else 0)
