# SPDX-License-Identifier: MIT
"""Section 11.7 of numerics.md: additions watched."""
from exact import equal, floor_log2, is_finite, is_nonzero, is_zero


class Watch:
    """Counts the additions of one element."""

    def __init__(self):
        self.additions = self.swamped = self.overflows = self.gap = 0

    def addition(self, s, t, new, events):
        """An addend t, finite and not 0, is added to a finite accumulator s; the result is `new`."""
        if not is_nonzero(t) or not is_finite(s):
            return
        self.additions += 1
        if equal(new, s) and 'overflow' not in events:
            self.swamped += 1
        if 'overflow' in events:
            self.overflows += 1
        if is_nonzero(s):
            self.gap = max(self.gap, abs(floor_log2(s) - floor_log2(t)))

    def term(self, left, distance):
        """A term that is cut: it is swamped if nothing of it is left; the gap is the distance of E and e(term)."""
        self.additions += 1
        if is_zero(left):
            self.swamped += 1
        self.gap = max(self.gap, abs(distance))

    def integer(self, t, outside):
        """int32: no addition is swamped, and none has a gap."""
        if t:
            self.additions += 1
            self.overflows += outside

    def block_overflow(self, events):
        """In align, groups and late the block's last rounding counts."""
        if 'overflow' in events:
            self.overflows += 1
