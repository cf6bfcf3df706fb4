# SPDX-License-Identifier: MIT
"""A reader of pages that the command writes: elements that are opened are closed."""
import html.parser


class Balanced(html.parser.HTMLParser):
    """Every element that is opened is closed, in order; what is in the tables; what it would fetch."""

    VOID = {"meta", "wbr", "link", "img", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.fetches, self.cells, self.count = [], [], [], {}

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.fetches += [v for k, v in attrs if k in ("src", "href", "srcset", "data", "action", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.fetches += [v for k, v in attrs if "href" in k or k == "src"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if "td" in self.open:
            self.cells[-1] += data

    @classmethod
    def read(cls, text):
        """The page, read to its end."""
        page = cls()
        page.feed(text)
        page.close()
        assert not page.open, page.open
        return page
