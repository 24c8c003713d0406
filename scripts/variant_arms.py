"""Removes the files and the arms of one variant from a copy of the tree: `variant_arms.py NAMES FILES..`.

Files and folders named after the variant go. In other Rust files, each name of the variant selects
the innermost element that contains it: a match arm or one alternative of its pattern, an enum
variant, an element of a list or of a `use`, a row of a macro, or an item. Statements and functions
stay, so a branch outside of these places fails the build.
"""
import re
import shutil
import sys
from pathlib import Path

NAMES = sys.argv[1].split("|")
WORD = re.compile(r"\b(" + "|".join(NAMES) + r")\b")
# Comments, texts with their quotes, characters, lifetimes, and single characters.
TOKEN = re.compile(r'//[^\n]*|r#".*?"#|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\\\'])\'|\w+|=>|->|::|[=!<>]=|.', re.S)
PATH = re.compile(r'"[\w/.]+"')
ITEM = re.compile(r"\s*(?:(?://[^\n]*|#!?\[[^\n]*\])\s*)*(?:pub(?:\([a-z]+\))? )?"
                  r"(?:use|mod|const|static|fn|const fn|struct|enum|impl|type)\b")
# Macros whose arguments are an expression.
EXPRESSIONS = ["matches", "assert", "assert_eq", "unreachable", "format"]


def tokens(text):
    """Returns (text, start, whether the token can name the variant)."""
    found = []
    for match in TOKEN.finditer(text):
        token = match.group()
        named = not token.startswith("//") and ('"' not in token or PATH.fullmatch(token))
        if not token.isspace() and not token.startswith("//"):
            found.append((token, match.start(), named and bool(WORD.search(token))))
    return found


def enclosing(found, at):
    """Returns the indices of the bracket that contains token `at`, and of its closing bracket."""
    depth, first = 0, at - 1
    while first >= 0:
        depth += (found[first][0] in ")]}") - (found[first][0] in "([{")
        if depth < 0:
            break
        first -= 1
    depth, last = 0, at
    while last < len(found):
        depth += (found[last][0] in "([{") - (found[last][0] in ")]}")
        if depth < 0:
            break
        last += 1
    return first, last


def split(found, first, last, separators):
    """Returns ranges of tokens between `first` and `last`, each with its separator."""
    ranges, begin, depth, arm = [], first + 1, 0, False
    for i in range(first + 1, last):
        token = found[i][0]
        depth += (token in "([{") - (token in ")]}")
        if depth:
            continue
        after = found[i + 1][0] if i + 1 < last else ""
        arm = arm or token == "=>"
        # A block ends an arm or an item, if nothing continues the expression.
        block = token == "}" and (after not in (",", ";", ".", "?", "else", "") and (arm or ";" in separators))
        if token in separators or block:
            ranges.append((begin, i + 1))
            begin, arm = i + 1, False
    return ranges + ([(begin, last)] if begin < last else [])


def is_block(found, first):
    """Returns whether a brace opens statements: the body of a function, a loop, or a condition."""
    depth, header, i = 0, [], first - 1
    while i >= 0:
        depth += (found[i][0] in ")]}") - (found[i][0] in "([{")
        if depth < 0 or depth == 0 and found[i][0] in ";{":
            break
        header.append(found[i][0] if depth == 0 else "")
        i -= 1
        if depth == 0 and found[i][0] == "}":
            break
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
            at = next((k for k in range(len(edges) - 1) if edges[k] < inner < edges[k + 1]), None)
            if at is not None:  # One of several alternatives.
                return (end(edges[at] - 1), end(edges[at + 1] - 1)) if at else (end(begin - 1), end(bars[0]))
        alone = begin == first + 1 and all(found[i][0] == "," for i in range(stop, last))
        if alone and (before == "::" or opening == "["):
            inner = first  # A list goes with its only element.
            continue
        return end(begin - 1), end(stop - 1)


def cut(text):
    """Returns the text without the element of the first name that has one, or `None`."""
    found = tokens(text)
    spans = (element(text, found, at) for at, (_, _, named) in enumerate(found) if named)
    span = next((span for span in spans if span), None)
    return text[:span[0]] + text[span[1]:] if span else None


for name in sys.argv[2:]:
    path = Path(name)
    stems = [part.split(".")[0] for part in path.parts]
    if any(stem in NAMES for stem in stems):
        path.unlink(missing_ok=True)
    elif path.suffix == ".rs":
        old = text = path.read_text()
        while WORD.search(text) and (shorter := cut(text)) is not None:
            text = shorter
        if text != old:
            path.write_text(text)
