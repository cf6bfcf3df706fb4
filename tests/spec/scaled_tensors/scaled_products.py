# SPDX-License-Identifier: MIT
"""Products of scaled tensors (scaled.md, section 9), and lines for them: scaled_gemm."""
from exact import BINARY32, ONE, ZERO, add, from_interchange, is_nan, multiply, to_interchange
from formats import BINARY32_FORMAT, Format
from lines import hexadecimal, list_of, mode_of, operation
from models import formats_of, model_of
from rounding import TIES_TO_EVEN, round_real
from runs import Run, element_of
from s2fp8 import count, count_text, hex_list
from scaled import binary32_list, layout_of
from scaled_binary32 import rne
from scaled_layout import split_top
from scaled_tensor import decode, encode
from words import high_bits, inner_word, stream_word

ACROSS = 1 << 63                # the number of the first rounding of `across` (9.1)


class Values:
    """A format whose codes are the numbers themselves, for operands w and P of `across`."""

    @staticmethod
    def decode(x):
        return x

    @staticmethod
    def is_signalling(x):
        return False


class Tensor:
    """A matrix with or without scales: numbers P, scales s, t and d by position (the symbols of section 9)."""

    def __init__(self, layout, element, codes, scales, t, rows, cols):
        self.layout, self.codes, self.scales, self.t = layout, codes, scales, t
        self.rows, self.cols = rows, cols
        self.format, self.stored_codes = element, codes
        if layout is None:
            self.has_tensor = False
            return
        self.has_tensor = layout.has_tensor
        self.height, self.width = layout.block_sides(rows, cols)
        if layout.twos:
            # Values of the format with one exponent bit, in which the lowest code is a number, too.
            self.format = Format(1, 1, element.m, element.b, inf='none', nan='none', nz=0, over='max')
            self.codes = [self.signed_code(code) for code in codes]

    def signed_code(self, code):
        """Sign and magnitude in the format with one exponent bit, from two's complement."""
        element = self.layout.element
        if element.sign_of(code):
            return self.format.join(1, -code & element.mask)
        return code & element.mask

    def scale(self, i, j):
        """s at (i, j)."""
        if self.layout is None:
            return ONE
        across = -(-self.cols // self.width)
        return self.layout.scale.decode(self.scales[i // self.height * across + j // self.width])

    def d(self, i, j):
        """d = rne32(s t)."""
        return rne(multiply(self.scale(i, j), self.t))

    def values(self):
        """The values of section 5; a plain operand has its own values."""
        if self.layout is None:
            return [self.format.decode(code) for code in self.codes]
        return decode(self.layout, self.stored_codes, self.scales, self.t, self.rows, self.cols)


def plain_or_scaled(fields, x, rows, cols):
    """The tensor of the fields lX, eX, sX, X, scales_X, tensor_X."""
    codes = list_of(fields[x])
    if len(codes) != rows * cols:
        raise ValueError('%s has not %d elements' % (x, rows * cols))
    element = element_of(fields['e' + x])
    if fields['l' + x] == 'plain':
        return Tensor(None, element, codes, None, ONE, rows, cols)
    layout = layout_of(fields['l' + x], fields['e' + x], fields['s' + x])
    t = from_interchange(hexadecimal(fields['tensor_' + x]), BINARY32) if 'tensor_' + x in fields else ONE
    return Tensor(layout, element, codes, list_of(fields['scales_' + x]), t, rows, cols)


class Call:
    """What the parts of a product share: operands, C as numbers, the stream, the mode, the formats of texts."""

    def __init__(self, fields):
        self.m, self.k, self.n = (int(fields[name]) for name in ('m', 'k', 'n'))
        self.a = plain_or_scaled(fields, 'a', self.m, self.k)
        self.b = plain_or_scaled(fields, 'b', self.k, self.n)
        self.c = [ZERO] * (self.m * self.n)
        if fields.get('c', '-') != '-':
            self.c = plain_or_scaled(fields, 'c', self.m, self.n).values()
        self.mode = mode_of(fields['mode'])
        # Zeros of an exact sum are those of its one rounding, which is to nearest where D is scaled (9.1).
        self.sum_mode = self.mode if fields['ld'] == 'plain' else TIES_TO_EVEN
        self.key, self.counter = hexadecimal(fields['key']), hexadecimal(fields['counter'])
        self.formats = formats_of(fields.get('formats', ''))

    def model(self, text):
        return model_of(text, self.formats)

    def words(self, element):
        return lambda r: inner_word(self.key, self.counter, element, r)

    def row_and_column(self, element):
        """The codes of row i of A and of column j of B."""
        i, j = divmod(element, self.n)
        return self.a.codes[i * self.k:(i + 1) * self.k], self.b.codes[j::self.n]

    def with_alpha(self, sum_without_c, c):
        """rne32(rne32(tA tB) sum + C): one fused multiply-add."""
        return rne(add(multiply(rne(multiply(self.a.t, self.b.t)), sum_without_c), c))

    def has_t(self):
        return self.a.has_tensor or self.b.has_tensor


# 9.1 Parts

class Parts:
    """parts(INSIDE;ACROSS;FACTOR)"""

    def __init__(self, call, inside, across, factor):
        if factor not in ('exact', 'rounded', 'twice', 'alpha'):
            raise ValueError('no factor: ' + factor)
        self.call, self.factor = call, factor
        self.inside = call.model(inside)
        self.across = call.model(across)
        self.runs = self.divided()

    def divided(self):
        """The runs: a new block of A or of B begins at each boundary along k."""
        call = self.call
        sides = []
        if call.a.layout is not None:
            sides.append(call.a.width)
        if call.b.layout is not None:
            sides.append(call.b.height)
        starts = [l for l in range(call.k) if l == 0 or any(l % side == 0 for side in sides)]
        return list(zip(starts, starts[1:] + [call.k]))

    def sum(self, element):
        call, factor = self.call, self.factor
        i, j = divmod(element, call.n)
        a, b = call.row_and_column(element)
        ws, ps, rounding, nan = [], [], 0, False
        for first, last in self.runs:
            run = Run(call.a.format, call.b.format, a[first:last], b[first:last], ZERO, call.words(element),
                      TIES_TO_EVEN)
            run.rounding = rounding
            p = rne(self.inside.sum(run, 0, run.n, ZERO))
            rounding = run.rounding
            sa, sb = call.a.scale(i, first), call.b.scale(first, j)
            da, db = call.a.d(i, first), call.b.d(first, j)
            if factor == 'exact':
                w = multiply(multiply(sa, sb), multiply(call.a.t, call.b.t))
            elif factor == 'rounded':
                w = rne(multiply(da, db))
            elif factor == 'twice':
                p, w = rne(multiply(p, da)), db
            else:
                w = rne(multiply(rne(sa), rne(sb)))
            nan = nan or run.nan_read or is_nan(da) or is_nan(db)
            ws.append(w)
            ps.append(p)
        c = call.c[element]
        with_alpha = factor == 'alpha' and call.has_t()
        run = Run(Values, Values, ws, ps, ZERO if with_alpha else c, call.words(element),
                  TIES_TO_EVEN if with_alpha else call.sum_mode)
        run.rounding = ACROSS
        if call.k == 0 and with_alpha:
            s = call.with_alpha(ZERO, c)
        else:
            s = self.across.sum(run, 0, run.n, run.c)
            s = call.with_alpha(rne(s), c) if with_alpha else s
        return s, nan or is_nan(c)


# 9.2 Unit

class Unit:
    """unit(MODEL): the model itself has scales."""

    def __init__(self, call, text):
        self.call = call
        self.model = call.model(text)
        self.every, self.scale_format = scales_of(self.model)
        if self.scale_format is None:
            self.scale_format = BINARY32_FORMAT

    def sum(self, element):
        call = self.call
        i, j = divmod(element, call.n)
        a, b = call.row_and_column(element)
        starts = range(0, call.k, self.every)
        sa, sb = [call.a.scale(i, l) for l in starts], [call.b.scale(l, j) for l in starts]
        c = call.c[element]
        run = Run(call.a.format, call.b.format, a, b, ZERO if call.has_t() else c, call.words(element), call.sum_mode,
                  (self.scale_format, sa, sb))
        s = self.model.sum(run, 0, run.n, run.c)
        if call.has_t():
            s = call.with_alpha(rne(s), c)
        return s, run.nan_read or any(map(is_nan, [c, call.a.t, call.b.t]))


def scales_of(model):
    """N and the format of the scales of a model, perhaps within the slices of splitk."""
    if getattr(model, 'scaled', False):
        return model.length, None
    if hasattr(model, 'every'):
        return model.every, model.scale
    return scales_of(model.model)


# 9.3 Decoded

class Decoded:
    """decoded(FORMAT;MODEL) or decoded(MODEL): the values of section 5, perhaps rounded into F."""

    def __init__(self, call, text, rounded_into=None):
        self.call, self.model = call, call.model(text)
        self.into = call.formats.get(rounded_into) if rounded_into else None
        self.fa, self.a = self.operand(call.a)
        self.fb, self.b = self.operand(call.b)

    def operand(self, tensor):
        """The format and the codes of A' or B'; a plain operand is taken unchanged."""
        if tensor.layout is None:
            return tensor.format, tensor.codes
        if self.into is None:
            return BINARY32_FORMAT, [to_interchange(x, BINARY32) for x in tensor.values()]
        return self.into, [round_real(x, self.into, TIES_TO_EVEN)[0] for x in tensor.values()]

    def sum(self, element):
        call = self.call
        i, j = divmod(element, call.n)
        run = Run(self.fa, self.fb, self.a[i * call.k:(i + 1) * call.k], self.b[j::call.n], call.c[element],
                  call.words(element), call.sum_mode)
        return self.model.sum(run, 0, run.n, run.c), run.nan_read


def way_of(call, text):
    """parts(INSIDE;ACROSS;FACTOR), unit(MODEL), decoded(FORMAT;MODEL), or a model alone."""
    name, bracket, inner = text.partition('(')
    if bracket and inner.endswith(')') and name in ('parts', 'unit', 'decoded'):
        arguments = split_top(inner[:-1])
        if name == 'parts':
            return Parts(call, *arguments)
        return Unit(call, *arguments) if name == 'unit' else Decoded(call, arguments[-1], *arguments[:-1])
    return Decoded(call, text)


# 9.4 The result

@operation('scaled_gemm', 'sum m k n la ea a lb eb b ld ed mode key counter',
           'formats sa scales_a tensor_a sb scales_b tensor_b lc ec sc c scales_c tensor_c sd amax')
def scaled_gemm(fields):
    call = Call(fields)
    way = way_of(call, fields['sum'])
    sums = [way.sum(element) for element in range(call.m * call.n)]
    if fields['ld'] != 'plain':
        return scaled_result(fields, call, [s for s, _ in sums])
    fd, codes, sets = element_of(fields['ed']), [], []
    for number, (s, nan) in enumerate(sums):
        r = high_bits(stream_word(call.key, call.counter, number), call.mode.bits)
        code, events = round_real(s, fd, call.mode, r)
        if is_nan(s) and not nan:
            events = events - {'nan_in'} | {'invalid'}
        codes.append(code)
        sets.append(events)
    return {'codes': hex_list(codes), 'events': count_text(count(sets))}


def scaled_result(fields, call, sums):
    """D scaled: first all of y = rne32(sum), then sections 2 to 5."""
    layout = layout_of(fields['ld'], fields['ed'], fields['sd'])
    given = from_interchange(hexadecimal(fields['amax']), BINARY32) if 'amax' in fields else None
    made = encode(layout, [rne(s) for s in sums], call.m, call.n, call.mode, call.key, call.counter, given)
    return {'codes': hex_list(made.codes), 'scales': hex_list(made.scales), 'tensor': binary32_list([made.t]),
            'events': count_text(count(made.events))}
