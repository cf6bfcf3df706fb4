# SPDX-License-Identifier: MIT
"""The variables of the theorems, each in two shapes: as the code's operand and as the specification's number."""
import specification as s
import terms as t
from integers import Integer

LIMIT = 2**30 - 2**18 - 64  # of an operand's exponent, either sign: what no caller of hui_round passes
AXES = {'zero': 2, 'subnormal': 2, 'inf': 2, 'nan': 3, 'overflow': 2, 'negative': 2}  # digits that hold their values
FORMAT = ('sign', 'e', 'm', 'zero', 'subnormal', 'inf', 'nan', 'negzero', 'overflow', 'negative', 'b')
MODE = ('round', 'saturate', 'tiny', 'nan_to', 'bits')
OPERAND = ('kind', 'minus', 'sig', 'exp', 'sticky')


class Symbols:
    """m: a number of trailing significand bits, None for any. bits: N of the stochastic modes, None for 1 to 32.
    wide: axes are whole bytes, so that values are among them which no axis has. Names get `tag` in front."""

    def __init__(self, m=None, bits=None, wide=False, tag=''):
        def small(name, digits, width=8):
            return t.widen(t.variable(tag + name, digits), width)
        v = {name: small(name, 8 if wide else digits) for name, digits in AXES.items()}
        for name in ('sign', 'negzero'):
            v[name] = small(name, 8 if wide else 1)
        v['e'], v['b'] = small('e', 4), t.variable(tag + 'b', 16)
        v['m'] = small('m', 5) if m is None else t.constant(m, 8)
        for name, digits in (('round', 4), ('saturate', 2), ('tiny', 1), ('nan_to', 2)):
            v[name] = small(name, digits)
        v['bits'] = small('bits', 6) if bits is None else t.constant(bits, 8)
        for name, digits in (('kind', 2), ('minus', 1), ('sticky', 1)):
            v[name] = small(name, digits)
        v['sig'], v['exp'] = t.variable(tag + 'sig', 64), t.variable(tag + 'exp', 32)
        v['random'], v['code'] = t.variable(tag + 'random', 32), t.variable(tag + 'code', 32)
        self.v = v
        self.format = s.Format(t.equal(v['sign'], 1), Integer.of(v['e'], 0, 15), Integer.of(v['m'], 0, 31) if m is None
                               else Integer.constant(m), Integer.of(v['b'], -32768, 32767), v['zero'], v['subnormal'], v['inf'],
                               v['nan'], t.equal(v['negzero'], 1), v['overflow'], v['negative'])
        self.mode = s.Mode(v['round'], v['saturate'], v['tiny'], v['nan_to'], Integer.of(v['bits'], 1, 32) if bits is None
                           else Integer.constant(bits))
        self.operand = s.Operand(t.equal(v['minus'], 1), Integer.of(v['sig']), Integer.of(v['exp'], -LIMIT, LIMIT),
                                 t.equal(v['sticky'], 1))

    def take(self, *names):
        """The code's operands; a name that is a term stands for itself."""
        return [self.v[n] if isinstance(n, str) else n for n in names]

    # ---- what is supposed ----

    def valid(self):
        """A descriptor that section 1 accepts. The format is known to be in its ranges from here on."""
        f = self.format
        holds = s.valid(f)
        self.format = f._replace(e=f.e.known(0, 11), m=f.m.known(0, 30))
        return holds

    def any_mode(self, rounds=range(11)):
        """Values that a mode's fields have; N from 1 to 32."""
        v = self.v
        return t.conjunction(t.disjunction(*(t.equal(v['round'], r) for r in rounds)), t.less(v['nan_to'], 3),
                             t.implies(t.less(t.constant(s.RTO, 8), v['round']),
                                       t.conjunction(t.less(t.constant(0, 8), v['bits']), t.at_most(v['bits'], 32))))

    def in_domain(self):
        """|exp| within the limit."""
        exp = self.v['exp']
        return t.conjunction(t.at_most_signed(exp, LIMIT), t.at_most_signed(t.constant(-LIMIT, 32), exp))

    def normalised(self):
        return t.bit(self.v['sig'], 63)


def parts(word):
    """A code and its events out of the code's result, as integers."""
    return Integer.of(t.cut(word, 32)), Integer.of(t.extract(word, 63, 32))
