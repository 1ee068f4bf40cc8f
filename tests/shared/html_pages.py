"""A page as tests read it: whether it is well formed, its tables, ids and links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta"}
_OUTSIDE = r"url\(|@import|fetch\(|XMLHttp|https?:"


@dataclass
class Table:
    caption: str = ""
    heads: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    attributes: list[dict[str, str]] = field(default_factory=list)  # of rows

    def column(self, head: str) -> list[str]:
        return [row[self.heads.index(head)] for row in self.rows]


class Page(HTMLParser):
    """Of a whole file. AssertionError where it is not well formed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: list[Table] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.labels: list[str] = []  # in pictures
        self.feed(text)
        self.close()
        assert self.open == [], self.open
        ids = self.attributes("id")
        assert len(ids) == len(set(ids)), "an id stands twice"
        missing = {link[1:] for link in self.attributes("href")} - {*ids, ""}
        assert not missing, f"links lead nowhere: {missing}"

    def attributes(self, name: str) -> list[str]:
        return [given[name] for _, given in self.elements if name in given]

    def table(self, caption: str) -> Table:
        (table,) = (
            candidate
            for candidate in self.tables
            if candidate.caption.startswith(caption)
        )
        return table

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag}: an attribute stands twice"
        given = {name: value or "" for name, value in attrs}
        self.elements.append((tag, given))
        if tag == "table":
            self.tables.append(Table())
        elif tag == "th":
            self.tables[-1].heads.append("")
        elif tag == "tr" and "tbody" in self.open:
            self.tables[-1].rows.append([])
            self.tables[-1].attributes.append(given)
        elif tag == "td":
            self.tables[-1].rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> ends nothing"
        assert self.open.pop() == tag, f"</{tag}> is not what is open"

    def handle_data(self, data: str) -> None:
        if "style" in self.open or "script" in self.open:
            return
        self.text += data
        if self.open and self.open[-1] == "text":
            self.labels.append(data)
        if "caption" in self.open:
            self.tables[-1].caption += data
        elif "th" in self.open:
            self.tables[-1].heads[-1] += data
        elif "td" in self.open:
            self.tables[-1].rows[-1][-1] += data


def needs_nothing(text: str) -> bool:
    """Whether a page asks for no other file, and forbids itself to."""
    page = Page(text)
    links = [*page.attributes("src"), *page.attributes("href")]
    inside = all(link.startswith("#") for link in links)
    return inside and not re.search(_OUTSIDE, text) and "default-src 'none'" in text
