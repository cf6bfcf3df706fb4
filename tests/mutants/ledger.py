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
    """equivalent.txt: mutants that compute what the source computes, with the reason. Rows of four lines:

        file: emu/base/threads.c
        before: if (n < 1) n = 1;
        after: if (n <= 1) n = 1;
        reason: 1 becomes 1
    """
    WORDS = ('file', 'before', 'after', 'reason')

    def __init__(self, path):
        self.rows, row = [], {}
        for n, line in enumerate(pathlib.Path(path).read_text().split('\n'), 1):
            if not line.strip() or line.startswith('#'):
                continue
            word, _, rest = line.partition(': ')
            if word != self.WORDS[len(row)] or not rest.strip():
                raise ValueError('{}:{}: {}: TEXT should stand here'.format(path, n, self.WORDS[len(row)]))
            row[word] = rest.strip()
            if len(row) == len(self.WORDS):
                self.rows.append(row)
                row = {}
        if row:
            raise ValueError('{}: the last row is not whole'.format(path))

    def reason(self, site, line):
        """Why a site is equivalent, or None."""
        wanted = (site.file, line.strip(), operators.changed(line, site).strip())
        return next((row['reason'] for row in self.rows if (row['file'], row['before'], row['after']) == wanted), None)

    def stale(self, sources):
        """What is wrong with rows: the file is gone, the line is, or no operator makes the one of the other."""
        for row in self.rows:
            try:
                sites = sources.sites(row['file'])
            except (ValueError, OSError) as error:
                yield str(error)
                continue
            lines = [line.strip() for line in sources.text(row['file']).split('\n')]
            if row['before'] not in lines:
                yield '{}: no line {!r} any more'.format(row['file'], row['before'])
            elif not any(sources.line(site).strip() == row['before'] and
                         operators.changed(sources.line(site), site).strip() == row['after'] for site in sites):
                yield '{}: no operator makes {!r} of {!r}'.format(row['file'], row['after'], row['before'])
