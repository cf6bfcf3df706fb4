# SPDX-License-Identifier: MIT
"""What a run has found so far, a line of JSON each, so that a run that was stopped goes on; and mutants that are known
to be equivalent."""
import json
import os
import pathlib

import operators

# What becomes of a mutant. The first two count; the others are replaced by the next draw.
KILLED, SURVIVED = 'killed', 'survived'
REPLACED = {'no compile': 'do not compile', 'same code': 'equivalent (same code)', 'listed': 'equivalent (listed)',
            'not built': 'not compiled in this build', 'no test': 'without a test here'}


class Ledger:
    """header: what a run was asked for. A file with another header is not gone on with."""

    def __init__(self, path, header):
        self.path, self.rows = pathlib.Path(path), {}
        self.resumed = self.path.exists() and self.path.stat().st_size > 0
        if self.resumed:
            lines = self.path.read_text().split('\n')
            whole = lines[:-1]  # the last line is empty, or was cut when the run was killed
            have = json.loads(whole[0]) if whole else None
            if have != header:
                raise SystemExit('{} belongs to another run ({}); remove it, or name another by LEDGER='.format(
                    self.path, ', '.join('{}={}'.format(*item) for item in (have or {}).items())))
            for line in whole[1:]:
                row = json.loads(line)
                self.rows[row['at']] = row
            if lines[-1]:
                self.path.write_text('\n'.join(whole) + '\n')
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._append(header)

    def _append(self, row):
        with open(self.path, 'a') as file:
            file.write(json.dumps(row) + '\n')
            file.flush()
            os.fsync(file.fileno())

    def add(self, row):
        self._append(row)
        self.rows[row['at']] = row

    def counted(self):
        return [row for row in self.rows.values() if row['result'] in (KILLED, SURVIVED)]


class Equivalents:
    """equivalent.txt: mutants that compute what the source computes, with the reason. Rows of a few lines:

        file: emu/base/threads.c
        above: uint32_t n = wanted;
        before: if (n < 1) n = 1;
        after: if (n <= 1) n = 1;
        reason: 1 becomes 1

    The line above is given where the file has the same line in other places.
    """
    WORDS = ('file', 'above', 'before', 'after', 'reason')

    def __init__(self, path):
        self.rows, row = [], {}
        for n, line in enumerate(pathlib.Path(path).read_text().split('\n'), 1):
            if not line.strip() or line.startswith('#'):
                continue
            word, _, rest = line.partition(': ')
            left = self.WORDS[self.WORDS.index(list(row)[-1]) + 1:] if row else self.WORDS[:1]
            if word not in (left[:2] if left[0] == 'above' else left[:1]) or not rest.strip():
                raise ValueError('{}:{}: {}: TEXT should stand here'.format(path, n, left[0]))
            row[word] = rest.strip()
            if word == self.WORDS[-1]:
                self.rows.append(row)
                row = {}
        if row:
            raise ValueError('{}: the last row is not whole'.format(path))

    @staticmethod
    def _fits(row, site, lines):
        line = lines[site.line - 1]
        return row['before'] == line.strip() and row['after'] == operators.changed(line, site).strip() and \
            row.get('above') in (None, lines[site.line - 2].strip() if site.line > 1 else '')

    def reason(self, site, text):
        """Why a site of a file with this text is equivalent, or None."""
        lines = text.split('\n')
        return next((row['reason'] for row in self.rows if row['file'] == site.file and self._fits(row, site, lines)), None)

    def stale(self, sources):
        """What is wrong with rows: the file is gone, the line is, it is in several places, or no operator makes the other."""
        for row in self.rows:
            try:
                sites, lines = sources.sites(row['file']), sources.text(row['file']).split('\n')
            except (ValueError, OSError) as error:
                yield str(error)
                continue
            places = [i for i, line in enumerate(lines) if line.strip() == row['before'] and
                      row.get('above') in (None, lines[i - 1].strip() if i else '')]
            if len(places) != 1:
                yield '{}: {} lines {!r}{}'.format(row['file'], len(places), row['before'],
                                                   '; say which by `above:`' if places else ' any more')
            elif not any(self._fits(row, site, lines) for site in sites):
                yield '{}: no operator makes {!r} of {!r}'.format(row['file'], row['after'], row['before'])
