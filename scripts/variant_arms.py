"""Removes one variant from the files of a tree: `variant_arms.py NAME|NAME.. FILES..`.

Files and folders with one of the names go. Elsewhere, each name selects the innermost element that
contains it, and the element goes: a match arm or one alternative of its pattern, an enum variant,
an element of a list or of a `use`, a row of a macro, or an item. Statements stay, so a branch
outside of these places fails the build. In texts, only names without spaces count.

A name `Enum::Variant` counts for this enum only. A name with a slash, `simt/`, counts in paths.
"""
import re
import sys
from pathlib import Path

NAMES = sys.argv[1].split("|")
WHOLE = [name for name in NAMES if "::" not in name and "/" not in name]
FOLDERS = [name[:-1] for name in NAMES if name.endswith("/")]
ENDS = [name.split("::")[1] for name in NAMES if "::" in name]
WORD = re.compile(r"\b(" + "|".join(WHOLE + FOLDERS + ENDS) + r")\b")
# Comments, texts, characters, words, operators of several characters, and single characters.
TOKEN = re.compile(r'//[^\n]*|r#".*?"#|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\\\'])\'|\w+|=>|->|::|[=!<>]=|.', re.S)
PATH = re.compile(r'"[\w/.]+"')
ITEM = re.compile(r"\s*(?:(?://[^\n]*|#!?\[[^\n]*\])\s*)*(?:pub(?:\([a-z]+\))? )?"
                  r"(?:use|mod|const|static|fn|struct|enum|impl|type)\b")
# The documentation of a file, which stays if its first item goes.
INNER = re.compile(r"(?:(?://!|#!\[)[^\n]*\n)*")
# Macros whose arguments are an expression.
EXPRESSIONS = ["matches", "assert", "assert_eq", "unreachable", "format", "include_str"]


def owner(found, at):
    """Returns the enum, or the type of the `impl`, around token `at`."""
    while at >= 0:
        at = enclosing(found, at)[0]
        header = [token for token, *_ in found[max(0, at - 9):max(0, at)]]
        if at >= 0 and found[at][0] == "{" and header[-2:-1] in (["enum"], ["impl"], ["for"]):
            return header[-1]
    return ""


def named(found, i):
    """Returns whether token `i` names the variant."""
    token, before = found[i][0], [before for before, *_ in found[max(0, i - 2):i]]
    if '"' in token:
        return bool(PATH.fullmatch(token)) and any(
            word in WHOLE or "/" in token for word in WORD.findall(token))
    if token in FOLDERS:
        return before[-1:] in (["mod"], ["::"]) or found[i + 1:i + 2] and found[i + 1][0] == "::"
    if token in ENDS and token not in WHOLE:
        of = before[0] if before[-1:] == ["::"] else "Self"
        return f"{owner(found, i) if of == 'Self' else of}::{token}" in NAMES
    return token in WHOLE


def tokens(text):
    """Returns the text, the start, and whether the variant is named, of each token."""
    found = [(match.group(), match.start()) for match in TOKEN.finditer(text)]
    found = [token for token in found if not (token[0].isspace() or token[0].startswith("//"))]
    return [(*token, bool(WORD.search(token[0])) and named(found, i)) for i, token in enumerate(found)]


def enclosing(found, at):
    """Returns the opening bracket around token `at`, and the closing one."""
    ends = []
    for step, inward in ((-1, ")]}"), (1, "([{")):
        depth, i = 0, at if step > 0 else at - 1
        while 0 <= i < len(found):
            if found[i][0] in "([{" or found[i][0] in ")]}":
                depth += 1 if found[i][0] in inward else -1
            if depth < 0:
                break
            i += step
        ends.append(i)
    return ends


def split(found, first, last, separator):
    """Returns the ranges of tokens between two brackets, each with its separator."""
    ranges, begin, depth, arm = [], first + 1, 0, False
    for i in range(first + 1, last):
        token, after = found[i][0], found[i + 1][0] if i + 1 < last else ","
        depth += (token in "([{") - (token in ")]}")
        arm = arm or depth == 0 and token == "=>"
        # A block ends an arm or an item, unless the expression continues.
        block = token == "}" and after not in (",", ";", ".", "?", "else") and (arm or separator == ";")
        if depth == 0 and (token == separator or block):
            ranges.append((begin, i + 1))
            begin, arm = i + 1, False
    return ranges + ([(begin, last)] if begin < last else [])


def is_block(found, first):
    """Returns whether a brace opens statements: a body, a loop, or a condition."""
    depth, header = 0, []
    for i in range(first - 1, -1, -1):
        depth += (found[i][0] in ")]}") - (found[i][0] in "([{")
        if depth < 0 or depth == 0 and found[i][0] in ";{":
            break
        header.append(found[i][0] if depth == 0 else "")
    last = next((k for k, token in enumerate(header) if token in (",", "=>", "=")), len(header))
    return "fn" in header or header[:1] in (["=>"], ["|"]) or "impl" not in header and \
        any(word in header[:last] for word in ("if", "else", "for", "while", "loop", "->"))


def element(text, found, inner):
    """Returns the range of the text that goes because of token `inner`, or `None`."""
    end = lambda i: found[i][1] + len(found[i][0]) if i >= 0 else 0
    while True:
        first, last = enclosing(found, inner)
        opening = found[first][0] if first >= 0 else "file"
        before = found[first - 1][0] if first > 0 else ""
        macro = before == "!" and found[first - 2][0] not in EXPRESSIONS
        if opening == "(" and not macro:
            inner = first
            continue
        parts = split(found, first, last, ";")
        item = lambda begin: ITEM.match(text, end(begin - 1))
        items = opening == "file" or any(item(begin) for begin, _ in parts)
        rows = macro and opening == "{" and any(found[stop - 1][0] == ";" for _, stop in parts)
        parts = parts if items or rows else split(found, first, last, ",")
        begin, stop = next(part for part in parts if part[0] <= inner < part[1])
        top = lambda token: [i for i in range(begin, stop)
                             if found[i][0] == token and enclosing(found, i)[0] == first]
        arrow = (top("=>") or [None])[0]
        if opening == "{" and not (items or rows or arrow or macro) and is_block(found, first):
            return None
        if items and not item(begin):
            return None
        if arrow and not rows and inner < arrow and (bars := [i for i in top("|") if i < arrow]):
            edges = [begin - 1] + bars + [(top("if") or [arrow])[0]]
            k = next((k for k in range(len(edges) - 1) if edges[k] < inner < edges[k + 1]), None)
            if k is not None:  # One of several alternatives.
                return (end(edges[k] - 1), end(edges[k + 1] - 1)) if k else (end(begin - 1), end(bars[0]))
        alone = begin == first + 1 and all(found[i][0] == "," for i in range(stop, last))
        if not (alone and (before == "::" or opening == "[" and not macro)):
            return end(begin - 1), end(stop - 1)
        inner = first  # A list goes with its only element.


for path in map(Path, sys.argv[2:]):
    if any(part.split(".")[0] in WHOLE + FOLDERS for part in path.parts):
        path.unlink()
        continue
    old = text = path.read_text()
    while path.suffix == ".rs" and WORD.search(text):
        found = tokens(text)
        spans = (element(text, found, at) for at, (_, _, is_named) in enumerate(found) if is_named)
        if not (span := next((span for span in spans if span), None)):
            break
        first = span[0] or INNER.match(text).end()
        text = text[:first] + text[span[1]:]
    if text != old:
        path.write_text(text)
