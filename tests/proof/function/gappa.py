# SPDX-License-Identifier: MIT
"""Writes Gappa scripts from lists of steps, runs Gappa and reads the proved ends.

A Script has machine steps (each +, -, *, / rounded to binary64), exact twins of them (the same without rounding, from exact
operands), facts (hypotheses) and goals. Gappa answers each goal with an interval whose ends are numbers of few digits; a goal
that it cannot answer is an error, and so is a script with contradicting facts, since Gappa says of them that anything holds.
"""
import re
import subprocess
from fractions import Fraction

import steps

SIGNS = {'+': '+', '-': '-', '*': '*', '/': '/'}
# Rounding to nearest in binary64, with subnormal numbers. A product of a power of two up to 2^1010 and a number, in units of the
# power, is rounded at 2^-64 of a unit or finer.
HEAD = '@rnd = float<ieee_64,ne>;\n@few = float<53,-64,ne>;\n'


class NotProved(Exception):
    pass


def number(x):
    """A fraction as Gappa reads it; a binary fraction exactly."""
    x = Fraction(x)
    if x.denominator & (x.denominator - 1) == 0:
        return f'{x.numerator}b{1 - x.denominator.bit_length()}' if x.denominator > 1 else str(x.numerator)
    return f'({x.numerator} / {x.denominator})'


def outward(low, high, digits=80):
    """The interval with ends of about `digits` binary digits, none of them lost."""
    def cut(x, up):
        x = Fraction(x)
        if x == 0:
            return x
        shift = digits - (abs(x.numerator).bit_length() - x.denominator.bit_length())
        scaled = x * Fraction(2) ** shift
        whole = -((-scaled.numerator) // scaled.denominator) if up else scaled.numerator // scaled.denominator
        return Fraction(whole) / Fraction(2) ** shift
    return cut(low, False), cut(high, True)


class Script:
    def __init__(self, title):
        self.title, self.lines, self.facts, self.goals, self.hints = title, [], [], [], []

    def define(self, name, text):
        self.lines.append(f'{name} = {text};')

    def operand(self, o, names):
        if isinstance(o, steps.Constant):
            return names.get(o.value, number(Fraction(o.value)))
        return names.get(o.name, o.name)

    def machine(self, list_of_steps, names=None, few=(), exactly=()):
        """names: what stands for a step or an input; a step that is there is not defined. exactly: these steps are not rounded, as a
        theorem says."""
        names = names or {}
        for s in list_of_steps:
            if s.name in names:
                continue
            a = self.operand(s.left, names)
            if s.operator == 'negate':
                self.define(s.name, f'-{a}')
                continue
            if s.operator == 'root':
                self.define(s.name, f'rnd(sqrt({a}))')
                continue
            if s.operator not in SIGNS:
                raise NotProved(f'{s.name}: no meaning of {s.operator} was given')
            b = self.operand(s.right, names)
            rounding = '' if s.name in exactly else 'few' if s.name in few else 'rnd'
            self.define(s.name, f'{rounding}({a} {s.operator} {b})' if rounding else f'{a} {s.operator} {b}')

    def exact(self, list_of_steps, names, prefix='E'):
        """Twins of the steps in real arithmetic, named with the prefix; names as above, for the operands' twins, and {number: name} for a
        constant that stands for a real number."""
        names = dict(names)
        for s in list_of_steps:
            if s.name in names:
                continue
            a = self.operand(s.left, names)
            twin = prefix + s.name
            if s.operator == 'negate':
                self.define(twin, f'-{a}')
            elif s.operator == 'root':
                self.define(twin, f'sqrt({a})')
            else:
                self.define(twin, f'{a} {s.operator} {self.operand(s.right, names)}')
            names[s.name] = twin
            self.hints.append(f'{s.name} ~ {twin};')
        return names

    def fact(self, text):
        self.facts.append(text)

    def within(self, expression, low, high):
        low, high = outward(low, high)
        self.facts.append(f'{expression} in [{number(low)},{number(high)}]')

    def goal(self, expression):
        self.goals.append(expression)

    def hint(self, text):
        self.hints.append(text)

    def text(self, goals):
        out = [f'# {self.title}', HEAD] + self.lines
        out.append('{ ' + ' /\\\n  '.join(self.facts) + '\n  -> ' + ' /\\\n  '.join(f'{g} in ?' for g in goals) + ' }')
        return '\n'.join(out + self.hints) + '\n'

    def prove(self):
        """{goal: (low, high)}."""
        text = self.text(self.goals)
        run = subprocess.run(['gappa', '-Eprecision=150'], input=text, capture_output=True, text=True)
        said = run.stdout + run.stderr
        found = {}
        for goal in self.goals:
            m = re.search(r'^  ' + re.escape(goal) + r' in \[([^ ,\]]+)(?: \{[^}]*\})?, ([^ \]]+)(?: \{[^}]*\})?\]$', said, re.M)
            if m:
                found[goal] = (dyadic(m[1]), dyadic(m[2]))
        if 'contradict' in said or len(found) < len(self.goals) or run.returncode:
            raise NotProved(f'{self.title}: Gappa says\n{said}\nof\n{text}')
        return found


def dyadic(text):
    m = re.fullmatch(r'(-?\d+)(?:b(-?\d+))?', text)
    if not m:
        raise NotProved('a number that was not read: ' + text)
    return Fraction(int(m[1])) * Fraction(2) ** int(m[2] or 0)
