# SPDX-License-Identifier: MIT
"""Text to the requests of man(7)."""
import re
import textwrap


def escape(text):
    text = text.replace('\\', '\\e').replace('-', '\\-').replace('^', '\\(ha').replace('~', '\\(ti').replace('`', '')
    return re.sub(r"(?m)^([.'])", r'\\&\1', text)


def paragraph(text):
    """Lines of a paragraph. Breaks stand between words alone, so that no line begins with a request."""
    return escape(textwrap.fill(re.sub(r'\s+', ' ', text).strip(), 100, break_long_words=False, break_on_hyphens=False))


def quoted(text):
    """An argument of a request."""
    return '"%s"' % escape(text).replace('"', '\\(dq')


def head(name, section, title):
    return ['.\\" SPDX-License-Identifier: MIT', '.TH %s %d "" "halfulp" %s' % (escape(name.upper()), section, quoted(title))]
