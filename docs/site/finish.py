# SPDX-License-Identifier: MIT
"""What Doxygen has made of a page or a header, as the site shows it: headings with links to themselves, blocks coloured and
to be copied, tables in a box of their own, formulas typeset. build.py puts the frame around it (frame.py)."""
import html
import re

import formula
import highlight

FRAGMENT = re.compile(r'(?s)<div class="fragment">(.*?)</div><!-- fragment -->|<pre class="fragment">(.*?)</pre>')
TOOLTIP = re.compile(r'(?s)<div class="ttc".*?</div>\s*</div>\n?')


def parts(text):
    """(title, contents) of a file of Doxygen's, both as HTML."""
    title = re.search(r'(?s)<div class="title">(.*?)</div>', text)
    begin = text.index('<div class="contents">') + len('<div class="contents">')
    return title[1].strip() if title else '', text[begin:text.rindex('</div><!-- contents -->')]


def words(fragment):
    """The letters of a piece of HTML."""
    return re.sub(r'\s+', ' ', html.unescape(re.sub(r'<[^>]+>', '', fragment)).replace('\xa0', ' ')).strip()


def heading(level, anchor, inside):
    """A heading, and the link to it that shows when the pointer or the focus is there."""
    said = html.escape(words(inside))
    return '<h%d id="%s">%s<a class="self" href="#%s" aria-label="Link to: %s">#</a></h%d>' % (level, anchor, inside.strip(), anchor, said, level)


def headings(text):
    """Doxygen's headings in the text, one level below the page's title; anchors of their own become theirs."""
    def one(found):
        level, inside = int(found[1]), found[2]
        anchor = re.match(r'<a class="anchor" id="([^"]+)"></a>\s*', inside)
        return heading(level + 1, anchor[1], inside[anchor.end():]) if anchor else found[0]

    return re.sub(r'(?s)<h([1-5])>(.*?)</h\1>', one, text)


def member_name(text, anchor, shown):
    """A member's heading; of an enumeration without a name its first value's."""
    shown = re.sub(r'(?s)<span class="overload">.*?</span>', '', shown)
    if words(shown) == 'anonymous enum':
        value = re.search(r'class="fieldname"><a id="[^"]*"[^>]*></a>(\w+)', text[text.index('id="%s"' % anchor):])
        shown = 'enum of <code>%s</code>' % value[1] if value else shown
    return heading(3, anchor, shown)


def members(text):
    """The reference's headings: groups, and below them each member."""
    original = text
    text = re.sub(r'(?s)<h2 class="groupheader"><a id="([^"]+)"[^>]*></a>\s*(.*?)</h2>', lambda m: heading(2, m[1], m[2]), text)
    text = re.sub(r'(?s)<a id="([^"]+)" name="\1"></a>\s*<h2 class="memtitle"><span class="permalink">.*?</span>(.*?)</h2>',
                  lambda m: member_name(original, m[1], m[2]), text)
    text = re.sub(r'<a name="details" id="details"></a><h2 class="groupheader">\s*</h2>', '<a id="details"></a>', text)
    taken = {}

    def group(found):
        """A group's heading that Doxygen gives no anchor."""
        name = re.sub(r'\W+', '-', words(found[1]).lower()).strip('-')
        taken[name] = taken.get(name, 0) + 1
        return heading(2, name + ('-%d' % taken[name] if taken[name] > 1 else ''), found[1]) if name else ''

    return re.sub(r'(?s)<h2 class="groupheader">(.*?)</h2>', group, text)


def line_texts(inside):
    """The lines of a block of Doxygen's, as HTML, with its links and colours."""
    inside = re.sub(r' (?:class="(?:code|el)\b[^"]*"|name="[^"]*")', '', TOOLTIP.sub('', inside))
    return [line.replace('&#160;', ' ').replace('<br />', '').rstrip() for line in re.findall(r'(?s)<div class="line">(.*?)</div>', inside)]


def blocks(text, source):
    """Every block in the one box. source: the page's own blocks, in order; none for a header."""
    given = iter(source)

    def one(found):
        own = next(given, None)
        if own is not None and own.comment == 'formula':
            return formula.lines(own.text)
        if own is not None and own.language not in ('c', 'cpp', 'cuda'):
            return highlight.block(own.text, own.language, own.comment == 'output')
        if found[2] is not None:
            return highlight.shell(found[2].strip('\n'), 'text')
        listing = 'class="lineno"' in found[1]
        return highlight.shell('\n'.join(line_texts(found[1])), 'listing' if listing else 'c' if own is None else own.language)

    return FRAGMENT.sub(one, text)


def cells(row, kind):
    return re.findall(r'(?s)<%s[^>]*>(.*?)</%s>' % (kind, kind), row)


NARROW = 14  # letters that the first of two columns has room for on a narrow screen
LONG = 24    # letters of code without a blank that may be broken behind its dots and commas


def breakable(text):
    """Long words of code may be broken where one of their parts ends."""
    def code(m):
        return re.sub(r'<[^>]*>|[^\s<>]{%d,}' % LONG, lambda word: word[0] if word[0][0] == '<' else re.sub(
            r'([;,(|.])(?=[\w&])', r'\1<wbr/>', word[0]), m[0])
    return re.sub(r'(?s)<code>.*?</code>', code, text)


def table(found):
    """A table in its box. On a narrow screen rows of words become cards, whose cells say what their column is; of two
    columns the second stands below a long first one; what is mostly numbers stays a table, which the box scrolls."""
    text = found[0]
    heads = [words(h) for h in cells(text, 'th')]
    said = [words(c) for c in cells(text, 'td')]
    if not any(heads):  # a table of names and texts, without a head
        text = re.sub(r'(?s)<tr class="markdownTableHead">.*?</tr>\n?', '', text)
    long_ones = sum(len(c) > 28 for c in said)
    cards = len(heads) >= 3 and long_ones * 6 > len(said)
    if cards:
        def row(m):
            given = iter(heads)
            return re.sub(r'<td', lambda t: '<td data-head="%s"' % html.escape(next(given, '')), m[0])
        text = re.sub(r'(?s)<tr class="markdownTableRow.*?</tr>', row, text)
    text = breakable(text.replace('<th class="markdownTableHeadNone"', '<th scope="col"').replace(' class="markdownTableBodyNone"', ''))
    label = html.escape(', '.join(h for h in heads if h)) or 'names and their meaning'
    firsts = [word for first in said[::2] for word in first.split()] if len(heads) == 2 else []
    kind = ' cards' if cards or any(len(word) > NARROW for word in firsts) else ' facts' if firsts else ''
    return '<div class="table%s" role="region" aria-label="Table: %s">%s</div>' % (kind, label, text.strip())


def tables(text):
    return re.sub(r'(?s)<table class="(?:markdownTable|doxtable)">.*?</table>', table, text)


def formulas(text):
    """Powers in the prose; not in code, blocks and attributes."""
    kept = re.split(r'(?s)(<pre.*?</pre>|<code.*?</code>|<math.*?</math>|<h[1-6].*?</h[1-6]>|<div class="memproto">.*?</table>'
                    r'|<table class="memberdecls">.*?</table>|<[^>]+>)', text)
    return ''.join(part if i % 2 else formula.typeset(part) for i, part in enumerate(kept))


def images(text):
    return re.sub(r'<img src="([^"]+)" alt="([^"]*)"/?>', r'<a class="picture" href="\1"><img src="\1" alt="\2" loading="lazy"/></a>', text)


def reference_title(title):
    return re.sub(r' (?:File|Struct|Class|Namespace) Reference$', '', title)


def finished(text, source=()):
    """(title, contents) of Doxygen's file, finished."""
    title, inside = parts(text)
    inside = re.sub(r'<p ?><a class="anchor" id="md_[^"]*"></a>\s*</p>|<a class="anchor" id="md_[^"]*"></a>', '', inside)
    inside = inside.replace('<p >', '<p>').replace('<p ><', '<p><')
    inside = tables(blocks(members(headings(inside)), source))
    return reference_title(title), images(formulas(inside))
