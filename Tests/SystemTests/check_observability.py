"""Holds docs/observability against the metrics that there are.

Usage: check_observability.py FOLDER METRICS PROMTOOL. METRICS is what `pickerctl status -o
prometheus` wrote. Prints what is wrong, a line each, and exits 1 then.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

folder, metrics, promtool = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
faults = []


def promtool_says(arguments, text=None):
    done = subprocess.run([promtool, *arguments], input=text, text=True, capture_output=True)
    if done.returncode or "FAILED" in done.stdout + done.stderr:
        faults.append(f"promtool {' '.join(arguments)}: {done.stdout}{done.stderr}".strip())
    elif arguments[:2] == ["check", "metrics"] and (done.stdout + done.stderr).strip():
        faults.append(f"promtool check metrics: {done.stdout}{done.stderr}")


# A metric with a label has no sample where nothing has been counted.
known = {
    line.split(" ")[2] if line.startswith("# TYPE") else line.split("{")[0].split(" ")[0]
    for line in metrics.read_text().splitlines() if line and not line.startswith("# HELP")}
promtool_says(["check", "metrics"], metrics.read_text())
promtool_says(["check", "rules", str(folder / "alerts.yaml")])

dashboard = json.loads((folder / "grafana-dashboard.json").read_text())
expressions = [
    (panel["title"], target["expr"]) for panel in dashboard["panels"]
    for target in panel["targets"]]
expressions += [
    ("alerts.yaml", line) for line in (folder / "alerts.yaml").read_text().splitlines()]
expressions += [
    (variable["name"], variable["query"]["query"]) for variable in dashboard["templating"]["list"]
    if isinstance(variable["query"], dict)]
used = 0
for place, expression in expressions:
    for name in re.findall(r"\bpickersync_[a-z0-9_]+", expression):
        used += 1
        if name not in known:
            faults.append(f"{place}: there is no metric {name}")
if used < 25:
    faults.append(f"only {used} metrics are referred to")

# What Grafana puts in is put in here, so that promtool reads the expressions of panels too.
rules = [
    {"record": f"panel:{number}", "expr": target["expr"].replace("$__rate_interval", "5m")
     .replace("$instance", ".*")}
    for number, target in enumerate(
        target for panel in dashboard["panels"] for target in panel["targets"])]
with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    # JSON is YAML.
    json.dump({"groups": [{"name": "panels", "rules": rules}]}, file)
    file.flush()
    promtool_says(["check", "rules", file.name])

ids = [panel["id"] for panel in dashboard["panels"]]
if len(set(ids)) != len(ids):
    faults.append("two panels have one id")
print("\n".join(faults) if faults else "as they should be")
sys.exit(1 if faults else 0)
