"""Comments, test names and pages are in plain technical English.

    check_words.py ROOT

Prints each phrase that readers had to read twice, as FILE:LINE: phrase; exit status 1 if any.
Code itself is not checked, only comments, strings with several words, and pages. What the live form
says, and why commands refuse their arguments or ask, is in Sources/pickerctl/Words and in
ControlWords.swift, so that it can be read as a whole: such words elsewhere are found too.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
# A phrase and what to write instead.
PHRASES = {
    r"always holds?\b": "invariant",
    r"\blet(?:s|ting)? go of\b": "release, close, forget",
    r"\banew\b": "again, new",
    r"\bdoings\b": "activity",
    r"(?<!`)\brooms?\b(?!`)": "space, size, capacity, module",
    r"\bwhoever\b": "name the user or the process",
    r"\bstood\b": "was",
    r"\bstands? again\b": "is restored",
    r"\bto the letter\b": "exactly",
    r"\bstands? here\b": "is in this file",
    r"\b(?:goes|go|went|going) on with\b": "continues with",
    r"(?<!there )\b(?:is|are|was|were) no (?!longer|more|different|better|worse)[a-z]": "is not a",
    r"\bwho(?:ever)? (?:\w+ ){1,12}is served at once\b": "name the client",
    r"\bso many (?:bytes|times|steps)\b": "this many",
    r"\bas many (?:as )?there are\b": "all",
}
# What the form and commands say is for people to whom English is foreign.
MESSAGES = ("Sources/pickerctl/Words/", "Sources/TerminalUI/Styles/ControlWords.swift")
MESSAGE_PHRASES = {
    r"\btakes?\b": "accept, choose, last",
    r"\bturn(?:s|ed)?\b": "set, change",
    r"\bstands?\b": "is",
    r"\bperhaps\b": "may",
    r"\bgo(?:es)? on\b": "continue",
    r"\binvalid value\b": "say what is expected",
}
# Several words in a string of the live form, but for what the argument parser prints as help.
SENTENCE = re.compile(r"[a-zA-Z]{2,}[,;:]? +[a-zA-Z]{2,}")
HELP = re.compile(r"\b(?:abstract|discussion|help): |\bArgumentHelp\(")
INSERTED = r"\\\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
ANY_STRING = re.compile(rf'"((?:[^"\\]|{INSERTED}|\\.)*)"')
# A command that refuses or asks with words of its own.
OWN_WORDS = re.compile(
    r"(?:\.usage\(|\bValidationError\(|\bFailure\(\s*\.\w+,|\bConsole\.confirm\()\s*\"")
PAGES = (".md", ".mdoc")
SOURCES = (".swift", ".c", ".h", ".py", ".sh", "")
LEFT_OUT = ("Fuzz/Corpus", "Fuzz/FailCases", "Tests/ArchitectureTests/check_words.py", "LICENSE",
            "Tests/TerminalUITests/Goldens", "packaging/order/")
PATTERNS = [(re.compile(phrase, re.I), instead) for phrase, instead in PHRASES.items()]
MESSAGE_PATTERNS = PATTERNS + [
    (re.compile(phrase, re.I), instead) for phrase, instead in MESSAGE_PHRASES.items()]
COMMENT = re.compile(r"^\s*(?:///?|#|/?\*)\s?(.*)$|\s//\s(.*)$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*\s(?:[^"\\]|\\.)*)"')


def texts(path, line):
    if path.suffix in PAGES:
        return [line]
    comment = COMMENT.match(line)
    if comment:
        return [comment[1] or comment[2] or ""]
    return STRING.findall(line)


def misplaced(name, lines):
    """The lines with words that belong in the files of messages, and these words."""
    for match in OWN_WORDS.finditer("\n".join(lines)):
        yield "\n".join(lines)[:match.end()].count("\n") + 1, " ".join(match[0].split())
    if not name.startswith("Sources/pickerctl/Live/"):
        return
    for number, line in enumerate(lines, 1):
        if COMMENT.match(line) or HELP.search(line):
            continue
        for text in ANY_STRING.findall(line):
            if SENTENCE.search(re.sub(INSERTED, "", text)):
                yield number, f'"{text}"'


def main():
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
        check=True).stdout.split("\n")
    found = 0
    for name in sorted(filter(None, names)):
        path = ROOT / name
        if name.startswith(LEFT_OUT) or path.suffix not in PAGES + SOURCES or not path.is_file():
            continue
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            continue
        is_message = name.startswith(MESSAGES)
        if name.startswith("Sources/pickerctl/") and not is_message:
            for number, text in misplaced(name, lines):
                found += 1
                print(f"{name}:{number}: {text}; it belongs in Sources/pickerctl/Words")
        for number, line in enumerate(lines, 1):
            for text in texts(path, line):
                for pattern, instead in MESSAGE_PATTERNS if is_message else PATTERNS:
                    for match in pattern.finditer(text):
                        found += 1
                        print(f"{name}:{number}: \"{match[0]}\"; better: {instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
