#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shapes of docs/json.md as a JSON Schema, whose $defs are the names there: `shapes.py` prints it, the site has it as
json.schema.json, and tests/cli/test_json.py holds the command to it.

A shape is a name, string, integer, boolean, finite (a number) or null, "texts" or numbers (one of them), /a pattern of a
text/, [shape], {field: shape, field?: shape} with no other fields, or several shapes with | between them."""
import json
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parent.parent / 'json.md'
PLAIN = {'string': 'string', 'integer': 'integer', 'boolean': 'boolean', 'finite': 'number', 'null': 'null'}
TOKEN = re.compile(r'\s*("[^"]*"|/[^/]*/|-?\d+|[A-Za-z][\w-]*|[][{}:,|?])')


class Reader:
    def __init__(self, name, text):
        self.name, self.tokens, at = name, [], 0
        while text[at:].strip():
            found = TOKEN.match(text, at)
            assert found, '%s: %s' % (name, text[at:at + 40])
            self.tokens.append(found[1])
            at = found.end()

    def take(self, wanted=None):
        assert self.tokens and wanted in (None, self.tokens[0]), '%s: no %s before %s' % (self.name, wanted, self.tokens[:5])
        return self.tokens.pop(0)

    def goes_on(self, pattern):
        return bool(self.tokens) and re.match(pattern, self.tokens[0]) is not None

    def shape(self):
        parts = [self.one()]
        while self.goes_on(r'\|'):
            self.take()
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else {'anyOf': parts}

    def one(self):
        if self.goes_on(r'\['):
            self.take()
            items = self.shape()
            self.take(']')
            return {'type': 'array', 'items': items}
        if self.goes_on(r'{'):
            return self.fields()
        if self.goes_on(r'/'):
            return {'type': 'string', 'pattern': self.take()[1:-1]}
        if self.goes_on(r'["\d-]'):
            texts = []
            while self.goes_on(r'["\d-]'):
                texts.append(json.loads(self.take()))
            return {'enum': texts}
        name = self.take()
        while self.goes_on('[a-z]'):
            name += ' ' + self.take()
        return {'type': PLAIN[name]} if name in PLAIN else {'$ref': '#/$defs/' + name}

    def fields(self):
        properties, required = {}, []
        while self.take() != '}':  # { or a comma
            name = self.take()
            if self.goes_on(r'\?'):
                self.take()
            else:
                required.append(name)
            self.take(':')
            properties[name] = self.shape()
            if self.goes_on('}'):
                self.take()
                break
        return {'type': 'object', 'properties': properties, 'required': required, 'additionalProperties': False}


def schema(page=None):
    text = PAGE.read_text(encoding='utf-8') if page is None else page
    block = re.search(r'(?s)\n## Every shape\n.*?```text\n(.*?)```', text)[1]
    made = {}
    for line in re.sub(r'\n +', ' ', block).strip().split('\n'):
        name, _, said = line.partition(' = ')
        assert said and name not in made, line
        reader = Reader(name, said)
        made[name] = reader.shape()
        assert not reader.tokens, (name, reader.tokens)
    unknown = set(re.findall(r'#/\$defs/([^"]+)"', json.dumps(made))) - set(made)
    assert not unknown, unknown
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', 'title': 'What the commands of halfulp print with --json',
            'description': 'json.md says what the fields are. $defs has an entry for each command.', '$defs': made}


if __name__ == '__main__':
    print(json.dumps(schema(), indent=1))
