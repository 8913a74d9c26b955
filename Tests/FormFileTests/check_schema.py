"""Checks JSON files against the schema of form files.

Usage: check_schema.py SCHEMA FOLDER. Prints one line a file of FOLDER, sorted: its name, a tab,
`accepted` or `refused`, a tab, and the first reason. Exits with 3 where jsonschema is missing.
"""

import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(3)

schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
for path in sorted(pathlib.Path(sys.argv[2]).glob("*.json")):
    instance = json.loads(path.read_text(encoding="utf-8"))
    error = min(
        validator.iter_errors(instance), key=lambda error: error.json_path, default=None)
    verdict = "refused" if error else "accepted"
    reason = f"{error.json_path}: {error.message}" if error else ""
    print(path.stem, verdict, " ".join(reason.split())[:300], sep="\t")
