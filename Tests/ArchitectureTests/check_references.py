"""Comments and pages may name only what exists.

    check_references.py ROOT

Checked are `DOC.md` and `DOC.md, Section` in comments of sources, and every type in backquotes in
comments and in the pages. Prints each breach as FILE:LINE: what is missing; exit status 1 if any.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
SOURCES = {".swift", ".c", ".h", ".py", ".sh", ""}
SLASHES = re.compile(r"^\s*(?:///?|/?\*)\s?(.*)$")
HASH = re.compile(r"^\s*#(?!!)\s?(.*)$")
DOCUMENT = re.compile(
    r"(?<![\w/.-])((?:[\w-]+/)*[A-Za-z][\w-]*\.md)(?!\w)(?:, ([A-Z][^,.;:()`]*[^,.;:()`\s]))?")
TYPE = re.compile(r"`([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?:[.(<][^`]*)?`")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# UIKit's, and those of Almeida, Shoker and Baquero (docs/CAUSALITY.md).
FOREIGN = set("UIPickerViewDataSource UIPickerViewDelegate AWORSet DotSet DotMap DotFun CCounter "
              "MVReg".split())


def files():
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
        check=True).stdout.split("\n")
    for name in sorted(filter(None, listed)):
        if not name.startswith(("Fuzz/Corpus", "Fuzz/FailCases")) and (ROOT / name).is_file():
            yield ROOT / name


def text_of(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def mark_of(path):
    return SLASHES if path.suffix in (".swift", ".c", ".h") else HASH


def comments(path):
    """Blocks of comment lines that belong together, each as its first line's number and its text."""
    block, start = [], 0
    for number, line in enumerate(text_of(path).split("\n"), 1):
        found = mark_of(path).match(line)
        if found:
            if not block:
                start = number
            block.append(found[1])
        elif block:
            yield start, block
            block = []
    if block:
        yield start, block


def headings(page):
    return {re.sub(r"[`*]", "", found[1]).strip().lower()
            for found in re.finditer(r"(?m)^#+ (.+)$", text_of(page))}


def main():
    paths = list(files())
    pages = {}
    for path in paths:
        if path.suffix == ".md":
            pages.setdefault(path.name, []).append(path)
    sources = [path for path in paths if path.suffix in SOURCES and path.suffix != ".md"]
    words = set(FOREIGN)
    for path in sources:
        for line in text_of(path).split("\n"):
            if not mark_of(path).match(line):
                words.update(WORD.findall(line))
    breaches = []

    def check(path, start, lines):
        joined = "\n".join(lines)
        for found in DOCUMENT.finditer(joined.replace("\n", " ")):
            line = start + joined.count("\n", 0, found.start())
            name = found[1].split("/")[-1]
            if name not in pages:
                breaches.append(f"{path}:{line}: there is no page {found[1]}")
            elif found[2] and path.suffix != ".md":
                known = set().union(*(headings(page) for page in pages[name]))
                if found[2].lower() not in known:
                    breaches.append(f"{path}:{line}: {name} has no section \"{found[2]}\"")
        for found in TYPE.finditer(joined):
            if found[1] not in words and not any(word.endswith(found[1]) for word in words):
                line = start + joined.count("\n", 0, found.start())
                breaches.append(f"{path}:{line}: nothing is called {found[1]}")

    for path in sources:
        for start, lines in comments(path):
            check(path.relative_to(ROOT), start, lines)
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "Torture/README.md", "docs/FORM.md",
                 "docs/CAUSALITY.md", "docs/PROTOCOL.md"):
        if (ROOT / name).is_file():
            check(Path(name), 1, text_of(ROOT / name).split("\n"))
    print("\n".join(breaches))
    sys.exit(1 if breaches else 0)


main()
