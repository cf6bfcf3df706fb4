# SPDX-License-Identifier: MIT
"""The frame of every page of the site: navigation, contents of the page, links to the pages before and behind it."""
import dataclasses
import html
import pathlib
import re

import finish

FRAME = (pathlib.Path(__file__).resolve().parent / 'frame.html').read_text(encoding='utf-8')
ALONE = ('playground.html',)  # in the navigation, but without this frame, and so not one of the pages that are turned
HEADING = re.compile(r'(?s)<h([23]) id="([^"]+)">(.*?)<a class="self"')


@dataclasses.dataclass
class Group:
    """A part of the navigation: its title, its pages as (file, title); folded: closed unless the reader is in it."""
    title: str
    pages: list
    folded: bool = False


class Frame:
    def __init__(self, groups, version):
        self.groups, self.version = groups, version

    def navigation(self, file):
        out = []
        for group in self.groups:
            here = any(f == file for f, _ in group.pages)
            items = ''.join('<li><a href="%s"%s>%s</a></li>\n' % (f, ' aria-current="page"' if f == file else '', html.escape(t))
                            for f, t in group.pages)
            if group.folded:
                out.append('<details%s><summary>%s</summary><ul>\n%s</ul></details>' % (' open="open"' if here else '', group.title, items))
            else:
                out.append('<h2>%s</h2><ul>\n%s</ul>' % (group.title, items))
        return '\n'.join(out)

    def turn(self, file):
        """Links to the page before and the page behind: of the whole of the pages that are read, or of a folded group."""
        chain = [p for g in self.groups if not g.folded for p in g.pages if p[0] not in ALONE]
        if file not in [f for f, _ in chain]:
            chain = next((g.pages for g in self.groups if g.folded and file in [f for f, _ in g.pages]), [])
        at = next((i for i, (f, _) in enumerate(chain) if f == file), None)
        if at is None:
            return ''
        out = []
        for i, name, word in ((at - 1, 'prev', 'Previous'), (at + 1, 'next', 'Next')):
            if 0 <= i < len(chain):
                out.append('<a rel="%s" href="%s"><small>%s</small> %s</a>' % (name, chain[i][0], word, html.escape(chain[i][1])))
        return '<nav class="turn" aria-label="Previous and next page">%s</nav>' % ''.join(out)

    def page(self, file, title, body):
        plain = finish.words(title)
        values = {'TITLE': 'halfulp' if plain == 'halfulp' else plain + ' · halfulp', 'VERSION': self.version, 'HEADING': title,
                  'NAVIGATION': self.navigation(file), 'CONTENTS': contents(body), 'BODY': body, 'TURN': self.turn(file)}
        return re.sub(r'@([A-Z]+)@', lambda m: html.escape(values[m[1]]) if m[1] == 'TITLE' else values[m[1]], FRAME)


def contents(body):
    """The sections of the page, which page.js marks as the reader goes through them."""
    found = [(int(level), anchor, finish.words(inside)) for level, anchor, inside in HEADING.findall(body)]
    if len(found) < 2:
        return ''
    items = ''.join('<li class="level%d"><a href="#%s">%s</a></li>\n' % (level, anchor, html.escape(said)) for level, anchor, said in found)
    return '<nav class="onpage" aria-label="On this page"><details open="open"><summary>On this page</summary><ul>\n%s</ul></details></nav>' % items
