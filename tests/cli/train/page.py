# SPDX-License-Identifier: MIT
"""A page of HTML that the command wrote, read strictly."""

import html.parser


class Page(html.parser.HTMLParser):
    """Elements must close in order, ids be unique; nothing from outside is asked for."""

    VOID = {"meta", "wbr", "br", "rect", "line", "circle", "polyline"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.titles = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [v for k, v in attrs.items() if k in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.titles.append(data)
