# SPDX-License-Identifier: MIT
"""The records and enumerators of the C headers, field by field.

Nothing here is computed: python/tests/test_abi.py has a C compiler print the size of each record, the place of each
field and the value of each enumerator, and compares.
"""
from __future__ import annotations

import ctypes as c
from typing import Any


class _Record(c.Structure):
    """A C record that compares and prints by its fields."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and bytes(self) == bytes(other)

    __hash__ = None  # type: ignore[assignment]  # records can be changed

    def copy(self):
        return type(self).from_buffer_copy(self)

    def __repr__(self) -> str:
        return '{}({})'.format(type(self).__name__,
                               ', '.join('{}={!r}'.format(f[0], getattr(self, f[0])) for f in self._fields_))


class Value:
    """An unchangeable object around the record `_c`: equal where the records are, printed and stored by its text."""

    __slots__ = ('_c',)
    _c: Any

    @property
    def text(self) -> str:
        """The text that names it."""
        raise NotImplementedError

    @classmethod
    def _from_c(cls, record: Any) -> Any:
        made = cls.__new__(cls)
        made._c = record.copy()
        return made

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._c == other._c

    def __hash__(self) -> int:
        return hash(bytes(self._c))

    def __repr__(self) -> str:
        return '{}({!r})'.format(type(self).__name__, self.text)

    def __reduce__(self):
        return type(self), (self.text,)


# ---- format.h ----
class hu_format(_Record):
    _fields_ = [(name, c.c_uint8) for name in
                ('sign', 'e', 'm', 'zero', 'subnormal', 'inf', 'nan', 'negzero', 'overflow', 'negative')] + [('b',
                    c.c_int16)]


class hu_limits(_Record):
    _fields_ = [(name, c.c_uint32) for name in
                ('width', 'storage', 'sign_mask', 'max_code', 'min_code', 'min_normal_code', 'inf_code', 'nan_code',
                 'has_nan')
                ] + [(name, c.c_int32) for name in ('bias', 'emin', 'emax')
                     ] + [(name, c.c_double) for name in ('max', 'min', 'min_normal', 'low')
                          ] + [('finite_codes', c.c_uint64), ('nan_codes', c.c_uint64)]


class hu_format_entry(_Record):
    _fields_ = [('id', c.c_char_p), ('aliases', c.c_char_p), ('source', c.c_char_p), ('open', c.c_char_p),
                ('format', hu_format)]


# ---- mode.h, array.h ----
class hu_mode(_Record):
    _fields_ = [(name, c.c_uint8) for name in ('round', 'saturate', 'tiny', 'nan', 'bits', 'nan_fma')] + [('reserved',
        c.c_uint8 * 2)]


class hu_stream(_Record):
    _fields_ = [('key', c.c_uint64), ('counter', c.c_uint64)]


class hu_events(_Record):
    _fields_ = [(name, c.c_uint64) for name in
                ('overflow', 'saturated', 'underflow', 'to_zero', 'subnormal', 'inexact', 'invalid', 'nan_in', 'inf_in',
                 'divide_by_zero')]


class hu_where(_Record):
    _fields_ = [('device', c.c_void_p), ('queue', c.c_void_p), ('work', c.c_void_p)]


class hu_exec(_Record):
    _fields_ = [('threads', c.c_uint32), ('levels_off', c.c_uint32), ('stream', hu_stream), ('where', hu_where)]


# ---- view.h, operation.h ----
class _TypeOf(c.Union):
    _fields_ = [(name, c.c_void_p) for name in ('number', 'scaling', 'hif4', 's2fp8')]


class hu_type(_Record):
    _anonymous_ = ('of',)
    _fields_ = [('kind', c.c_uint16), ('reserved', c.c_uint16), ('format', hu_format), ('of', _TypeOf)]


class hu_view(_Record):
    _fields_ = [('data', c.c_void_p), ('stride', c.c_ssize_t), ('type', hu_type), ('row', c.c_ssize_t)]


class hu_output(_Record):
    _fields_ = [('data', c.c_void_p), ('stride', c.c_ssize_t), ('type', hu_type), ('row', c.c_ssize_t)]


class hu_how(_Record):
    _fields_ = [('mode', hu_mode), ('exec', c.POINTER(hu_exec)), ('events', c.c_void_p)]


class hu_code(_Record):
    _fields_ = [('format', hu_format), ('code', c.c_uint32)]


class hu_operation(_Record):
    _fields_ = [('name', c.c_char_p), ('testfloat', c.c_char_p), ('operands', c.c_uint8), ('result', c.c_uint8),
                ('rounds', c.c_uint8), ('events', c.c_uint32), ('section', c.c_char_p), ('what', c.c_char_p)]


# ---- accum.h, gemm.h ----
class hu_block(_Record):
    _fields_ = [(name, c.c_uint8) for name in
                ('rule', 'cut', 'order', 'join', 'over', 'daz', 'ftz', 'products', 'input', 'lanes')
                ] + [(name, c.c_uint16) for name in ('length', 'kept', 'kept2', 'group', 'far', 'big', 'every')
                     ] + [('emin', c.c_int16), ('zero', c.c_uint8), ('last', c.c_uint8), ('nan', c.c_uint8), ('scaling', c.c_uint8),
                           ('sticky', c.c_uint8), ('zeros', c.c_uint8), ('window', c.c_uint8), ('to', c.c_uint8),
                           ('wide', c.c_uint8), ('past', c.c_uint8), ('as', hu_format), ('scale', hu_format),
                           ('via', hu_format)]


class hu_accum(_Record):
    _fields_ = [('kind', c.c_uint32), ('length', c.c_uint32), ('product', hu_format), ('sum', hu_format),
                ('mode', hu_mode), ('block', hu_block), ('promote', c.c_uint32), ('scaled', c.c_uint32),
                ('promoted', hu_format), ('slices', c.c_uint32), ('a', hu_type), ('b', hu_type),
                ('c', hu_type)]


class hu_accum_preset(_Record):
    _fields_ = [('name', c.c_char * 48), ('accum', hu_accum), ('a', hu_type), ('b', hu_type), ('c', hu_type),
                ('k', c.c_uint32), ('unit', c.c_char_p), ('confidence', c.c_char_p), ('source', c.c_char_p)]


class hu_watch(_Record):
    _fields_ = [(name, c.c_uint64) for name in ('additions', 'swamped', 'overflows', 'gap')]


class hu_product(_Record):
    _fields_ = [(name, c.c_size_t) for name in ('m', 'n', 'k')] + [('d', hu_output)] + [
        (name, hu_view) for name in ('a', 'b', 'c', 'sa', 'sb')] + [
        (name, c.c_void_p) for name in ('accum', 'watch', 'sum', 'amax', 'stats', 'space')] + [('bytes', c.c_size_t)]


# ---- p3109.h ----
class hu_p3109_operation(_Record):
    _fields_ = [('name', c.c_char_p), ('group', c.c_char_p), ('operands', c.c_uint8), ('gives', c.c_uint8), ('block', c.c_uint8)]


class hu_p3109_projection(_Record):
    _fields_ = [('mode', hu_mode), ('rules', c.c_uint8)]


class hu_p3109_array(_Record):
    _fields_ = [('x', c.c_void_p), ('stride', c.c_ssize_t), ('format', hu_format)]


# ---- scaled.h, gemm.h ----
class hu_formulas(_Record):
    _fields_ = [('code', c.c_uint8 * 64), ('number', c.c_uint32 * 8)]


class hu_scaling(_Record):
    _fields_ = [('element', hu_format), ('scale', hu_format), ('rows', c.c_uint32), ('cols', c.c_uint32)
                ] + [(name, c.c_uint8) for name in ('rule', 'round', 'steps', 'tensor', 'coding', 'special', 'blank',
                                                    'pad')
                     ] + [('amin', c.c_uint32), ('minus', c.c_uint8), ('reserved', c.c_uint8 * 3),
                          ('formulas', hu_formulas)]


class hu_scaling_entry(_Record):
    _fields_ = [('name', c.c_char_p), ('source', c.c_char_p), ('open', c.c_char_p), ('text', c.c_char_p)]


class hu_scaled_sizes(_Record):
    _fields_ = [(name, c.c_size_t) for name in
                ('block_rows', 'block_cols', 'code_bytes', 'scale_bytes', 'codes', 'scales', 'packed_row', 'packed')]


class hu_scaled_extra(_Record):
    _fields_ = [('amax', c.c_void_p), ('stats', c.c_void_p)]


class hu_scaled(_Record):
    _fields_ = [('codes', c.c_void_p), ('ld', c.c_size_t), ('scales', c.c_void_p), ('lds', c.c_size_t),
                ('tensor', c.c_void_p)]


class hu_scaled_stats(_Record):
    _fields_ = [('amax', c.c_float), ('scale', c.c_uint32), ('special', c.c_uint64), ('saturated', c.c_uint64),
                ('to_zero', c.c_uint64)]


# ---- sum.h, collective.h ----
class hu_sum(_Record):
    _fields_ = [('word', c.c_uint64 * 72), ('terms', c.c_uint32), ('reserved', c.c_uint32)]


class hu_collective_base(_Record):
    _fields_ = [('kind', c.c_uint8), ('wired', c.c_uint8), ('reserved', c.c_uint8 * 2), ('sum', hu_format),
                ('mode', hu_mode), ('wire', hu_format), ('scaling', hu_scaling)]


class hu_collective(_Record):
    _fields_ = [('base', hu_collective_base), ('group', c.c_uint32), ('outer', hu_collective_base)]


class hu_scaled_sum(_Record):
    _fields_ = [('way', c.c_uint8), ('factor', c.c_uint8), ('as', hu_format), ('inside', hu_accum),
                ('across', hu_accum)]


# ---- s2fp8.h, hadamard.h, number.h ----
class hu_hif4(_Record):
    _fields_ = [('ties', c.c_uint8), ('low', c.c_uint8), ('high', c.c_uint8), ('products', c.c_uint8)]


class hu_s2fp8(_Record):
    _fields_ = [('element', hu_format), ('target', c.c_uint16), ('special', c.c_uint8), ('reserved', c.c_uint8)]


class hu_s2fp8_sums(_Record):
    _fields_ = [('low', c.c_uint64), ('high', c.c_int64), ('count', c.c_uint64), ('special', c.c_uint64),
                ('top', c.c_uint32), ('reserved', c.c_uint32)]


class hu_s2fp8_scale(_Record):
    _fields_ = [('mu', c.c_int64), ('m', c.c_int64), ('alpha', c.c_float), ('beta', c.c_float)]


class hu_hadamard(_Record):
    _fields_ = [('n', c.c_uint32)] + [(name, c.c_uint8) for name in ('axis', 'norm', 'signs', 'whole')] + [('mask',
        c.c_void_p)]


class hu_number(_Record):
    _fields_ = [(name, c.c_uint8) for name in ('kind', 'width', 'es', 'fraction', 'sign', 'coding', 'overflow', 'ties')
                ] + [('count', c.c_uint16), ('format', hu_format), ('table', c.c_void_p)]


class hu_number_limits(_Record):
    _fields_ = [(name, c.c_uint32) for name in
                ('width', 'storage', 'max_code', 'low_code', 'min_code', 'zero_code', 'nan_code', 'has_zero',
                 'has_nan', 'exact64')
                ] + [(name, c.c_double) for name in ('max', 'low', 'min')]


class hu_number_entry(_Record):
    _fields_ = [('name', c.c_char_p), ('source', c.c_char_p), ('open', c.c_char_p), ('number', hu_number)]


# ---- conversion.h ----
class hu_conversion_step(_Record):
    _fields_ = [('format', hu_format), ('mode', hu_mode)]


class hu_conversion(_Record):
    _fields_ = [('format', hu_format), ('mode', hu_mode), ('first', hu_format), ('first_mode', hu_mode)
                ] + [(name, c.c_uint8) for name in ('operand', 'nan', 'nan64', 'nan_made')
                     ] + [('nan_code', c.c_uint32), ('scaling', c.c_char_p), ('through', c.c_char_p), ('codes', c.c_uint8),
                            ('further', 2 * hu_conversion_step)]


class hu_conversion_entry(_Record):
    _fields_ = [(name, c.c_char_p) for name in ('name', 'stands', 'tested', 'note')] + [('conversion', hu_conversion)]


# ---- path.h ----
class hu_path_node(_Record):
    _fields_ = [(name, c.c_uint8) for name in ('kind', 'operation', 'inside')
                ] + [('x', 3 * c.c_uint8), ('constant', c.c_float), ('format', hu_format)]


class hu_path(_Record):
    _fields_ = [('format', hu_format), ('result', hu_conversion), ('operands', c.c_uint32), ('nodes', c.c_uint32),
                ('name', 8 * (16 * c.c_char)), ('node', 32 * hu_path_node)]


class hu_path_rule(_Record):
    _fields_ = [('word', 10 * c.c_uint8)]


class hu_path_rule_entry(_Record):
    _fields_ = [(name, c.c_char_p) for name in ('name', 'text', 'of')]


# ---- train/ ----
class hu_rounding(_Record):
    _fields_ = [(name, c.c_uint8) for name in ('kind', 'turned', 'over_inf', 'keep_nan')
                ] + [('mode', hu_mode), ('format', hu_format), ('scaling', hu_scaling), ('s2fp8', hu_s2fp8),
                     ('number', hu_number), ('amax', c.c_float)]


class hu_rounding_counts(_Record):
    _fields_ = [('elements', c.c_uint64), ('over', c.c_uint64), ('events', hu_events)]


class hu_loss_rule(_Record):
    _fields_ = [(name, c.c_uint8) for name in ('kind', 'unchecked', 'literal')
                ] + [(name, c.c_float) for name in ('start', 'low', 'high', 'grow', 'shrink')
                     ] + [('window', c.c_uint64)] + [(name, c.c_double) for name in ('log_max', 'beta1', 'beta2',
                         'deviations')]


class hu_gradient_found(_Record):
    _fields_ = [('amax', c.c_float), ('bad', c.c_uint8)]


class hu_loss_scale(_Record):
    _fields_ = [('scale', c.c_float)] + [(name, c.c_uint64) for name in ('iteration', 'skipped', 'since')
                                         ] + [(name, c.c_double) for name in ('xh', 'sh', 'qh', 'c1', 'c2')]


class hu_optimizer(_Record):
    _fields_ = [('state', hu_format), ('weight', hu_format)
                ] + [(name, c.c_uint8) for name in ('kind', 'update', 'coupled', 'fused')
                     ] + [('mode', hu_mode), ('nesterov', c.c_uint8)] + [(name, c.c_double) for name in
                                                ('rate', 'momentum', 'beta1', 'beta2', 'eps', 'decay')
                                                ] + [('mode_decay', hu_mode), ('mode_momentum', hu_mode),
                                                     ('stored_m', hu_rounding), ('stored_v', hu_rounding),
                                                     ('product', hu_format), ('accum', hu_accum),
                                                     ('iterations', c.c_uint32), ('aspect', c.c_uint8),
                                                     ('rate_adamw', c.c_double), ('correction', c.c_uint8), ('accumulated', c.c_double)]


class hu_optimizer_matrix(_Record):
    _fields_ = [('rows', c.c_size_t), ('cols', c.c_size_t), ('outputs_first', c.c_uint8)]


class hu_optimizer_time(_Record):
    _fields_ = [('t', c.c_uint64), ('power1', c.c_double), ('power2', c.c_double)]


class hu_optimizer_arrays(_Record):
    _fields_ = [(name, c.c_void_p) for name in ('w', 'g', 'm', 'v', 'c')]


class hu_update_counts(_Record):
    _fields_ = [('moved', c.c_uint64), ('lost', c.c_uint64)]


class hu_layout_operator(_Record):
    _fields_ = [('parameters', c.c_uint64), ('input', c.c_size_t), ('product', c.c_uint8)]


class hu_layout(_Record):
    _fields_ = [('operators', c.c_size_t), ('values', c.POINTER(c.c_uint64)), ('row', c.POINTER(hu_layout_operator)),
                ('reading', c.c_uint8)]


class hu_assignment(_Record):
    _fields_ = [(name, c.POINTER(c.c_uint8)) for name in ('v', 'dv', 'theta', 'dtheta')]


class hu_ratio(_Record):
    _fields_ = [('num', c.c_uint64), ('den', c.c_uint64)]


class hu_product_rounding(_Record):
    _fields_ = [(name, hu_rounding) for name in
                ('x', 'w', 'dz', 'w_back', 'x_back', 'dz_w', 'z_out', 'dx_out', 'dw_out')
                ] + [(name, hu_accum) for name in ('z_accum', 'dx_accum', 'dw_accum')
                     ] + [('hadamard', c.c_uint32), ('signs', c.c_uint32), ('by_window', c.c_uint8), ('twice', c.c_uint8),
                           ('quartet', c.c_uint8), ('w_average', c.c_float)]


class hu_net_tensor(_Record):
    _fields_ = [('rows', c.c_size_t), ('cols', c.c_size_t), ('numbers', c.c_void_p), ('gradients', c.c_void_p),
                ('forward', hu_rounding_counts), ('backward', hu_rounding_counts)]


class hu_model(_Record):
    _fields_ = [(name, c.c_uint8) for name in ('kind', 'activation', 'no_bias', 'projection', 'bypass', 'variant',
                                               'scaling')
                ] + [(name, c.c_uint32) for name in ('layers', 'blocks', 'units', 'hidden', 'heads', 'kernel')
                     ] + [('channels', c.c_uint32 * 8), ('width', c.c_double), ('deviation', c.c_float),
                          ('stages', c.c_uint32 * 8), ('bottleneck', c.c_uint8), ('dropout', c.c_double),
                          ('bottom', c.c_uint32 * 8), ('top', c.c_uint32 * 8), ('text', c.c_char_p),
                          ('settings', c.c_char_p)]


class hu_model_sizes(_Record):
    _fields_ = [(name, c.c_size_t) for name in
                ('height', 'width', 'channels', 'steps', 'vocabulary', 'users', 'items', 'outputs',
                 'source_vocabulary', 'dense', 'categories')]


class hu_model_ends(_Record):
    _fields_ = [('inputs', c.c_int * 4), ('count', c.c_int), ('output', c.c_int), ('tokens', c.c_uint),
                ('masked', c.c_int), ('lengths', c.c_int), ('heads', c.c_int * 4), ('head_weights', c.c_double * 4),
                ('head_count', c.c_int)]


class hu_parameter_rule(_Record):
    _fields_ = [('rate', c.c_double), ('decay', c.c_double), ('unclipped', c.c_uint8), ('lazy', c.c_uint8)]


class hu_trainer_key(_Record):
    _fields_ = [(name, c.c_char_p) for name in ('name', 'by_default', 'what')
                ] + [('weights', c.c_int), ('words', c.POINTER(c.c_char_p)), ('low', c.c_double), ('high', c.c_double)]


class hu_trainer_report(_Record):
    _fields_ = [('step', c.c_uint64), ('epoch', c.c_uint64), ('loss', c.c_double), ('rate', c.c_double),
                ('scale', c.c_float), ('largest', c.c_float), ('norm', c.c_double), ('skipped', c.c_uint64),
                ('taken', c.c_int), ('updates', hu_update_counts), ('forward', hu_rounding_counts),
                ('backward', hu_rounding_counts), ('low', c.c_double), ('promoted', c.c_size_t)]


class hu_trainer_seen(_Record):
    _fields_ = [(name, c.c_double) for name in ('loss', 'accuracy', 'r2', 'perplexity', 'auc', 'hit', 'ndcg', 'bleu', 'error_rate')]


class hu_trainer_memory(_Record):
    _fields_ = [(name, c.c_double) for name in ('weights', 'state', 'values', 'gradients')]


class hu_trainer_tensor(_Record):
    _fields_ = [('name', c.c_char_p), ('rows', c.c_size_t), ('cols', c.c_size_t)]


class hu_checkpoint_layout(_Record):
    _fields_ = [(name, c.c_char_p) for name in ('name', 'program', 'tensors', 'formula', 'open')]


class hu_checkpoint_tensor(_Record):
    _fields_ = [('name', c.c_char_p), ('file', c.c_char_p), ('layout', c.c_char_p), ('dtype', c.c_char_p), ('elements', c.c_char_p),
                ('scales', c.c_char_p), ('open', c.c_char_p), ('shape', c.POINTER(c.c_size_t)), ('count', c.c_size_t),
                ('block', c.c_size_t * 2), ('place', c.c_size_t), ('dims', c.c_uint32)]


class hu_checkpoint_target(_Record):
    _fields_ = [(name, c.c_char_p) for name in ('name', 'layout', 'program', 'rule', 'scaling')]


class hu_checkpoint_change(_Record):
    _fields_ = [('what', c.c_uint32), *((name, c.c_uint64) for name in ('count', 'narrowed', 'changed', 'zeroed', 'to_infinity', 'to_nan', 'bytes')),
                *((name, c.c_double) for name in ('largest', 'squares', 'difference'))]


class hu_checkpoint_order(_Record):
    _fields_ = [('target', c.c_char_p), ('rule', c.c_char_p), ('values', c.c_char_p), ('include', c.POINTER(c.c_char_p)),
                ('exclude', c.POINTER(c.c_char_p)), ('file_bytes', c.c_uint64), ('threads', c.c_uint32), ('progress', c.c_void_p),
                ('context', c.c_void_p), ('activations', c.c_void_p)]


RECORDS = {name: kind for name, kind in list(globals().items()) if name.startswith('hu_')}

# ---- enumerators that this package uses ----
OK, E_FORMAT, E_CODE, E_FILE = 0, -10, -44, -110
NO_CODE = 0xFFFFFFFF
THREADS_MAX = 256
# Words of the command line, each with its enumerator (number: the place in the row).
ROUNDINGS = ('rne', 'rna', 'rnz', 'rtz', 'rtp', 'rtn', 'raz', 'rto', 'sra', 'srb', 'src')
SATURATIONS = ('default', 'none', 'finite', 'propagate')
NAN_POLICIES = ('max', 'zero', 'error')
TININESS = ('after', 'before')
ROUND_SCALED = 2
ZEROS = ('field', 'code', 'none')
SUBNORMALS = ('gradual', 'none', 'flush')
INFINITIES = ('none', 'ieee', 'top')
NANS = ('none', 'ieee', 'ieee1', 'ones', 'negzero', 'top')
OVERFLOWS = ('inf', 'nan', 'max')
NEGATIVES = ('nan', 'low', 'stop')
ELEMENTS = ('', '', '', '', '', 'binary64', 's8', 'u8', 's4', 'u4', 's32')  # by kind of hu_type; '': no word
TYPE_NONE, TYPE_CODES, TYPE_VALUES32, TYPE_VALUES64, TYPE_BINARY32, TYPE_BINARY64, TYPE_INT8 = range(7)
TYPE_SCALED, TYPE_HIF4, TYPE_SCALED_VALUES = 11, 14, 15
ON_TRAINING, ON_TEST = 0, 1
SEE_WEIGHTS, SEE_BINARY32 = 1, 2
LABEL_NONE = 0xFFFFFFFF
DATA_WHY_MAX = 512
CLASSES = ('nan', '-inf', '-normal', '-subnormal', '-0', '+0', '+subnormal', '+normal', '+inf')

# What test_abi.py holds against the headers.
ENUMERATORS = {
    'HU_OK': OK, 'HU_E_CODE': E_CODE,
    'HU_NO_CODE': NO_CODE, 'HU_THREADS_MAX': THREADS_MAX,
    'HU_TYPE_SCALED': TYPE_SCALED, 'HU_TYPE_HIF4': TYPE_HIF4, 'HU_TYPE_SCALED_VALUES': TYPE_SCALED_VALUES,
    'HU_ON_TRAINING': ON_TRAINING, 'HU_ON_TEST': ON_TEST, 'HU_SEE_WEIGHTS': SEE_WEIGHTS, 'HU_SEE_BINARY32': SEE_BINARY32,
    'HU_LABEL_NONE': LABEL_NONE, 'HU_DATA_WHY_MAX': DATA_WHY_MAX,
    'HU_ROUND_SCALED': ROUND_SCALED, 'HU_LESS': -1, 'HU_EQUAL': 0, 'HU_GREATER': 1, 'HU_UNORDERED': 2,
}
_ROWS = {
    tuple('HU_' + word.upper() for word in ROUNDINGS): ROUNDINGS,
    ('HU_SAT_DEFAULT', 'HU_SAT_NONE', 'HU_SAT_FINITE', 'HU_SAT_PROPAGATE'): SATURATIONS,
    ('HU_NAN_TO_MAX', 'HU_NAN_TO_ZERO', 'HU_NAN_TO_ERROR'): NAN_POLICIES,
    ('HU_TINY_AFTER', 'HU_TINY_BEFORE'): TININESS,
    ('HU_ZERO_FIELD', 'HU_ZERO_CODE', 'HU_ZERO_NONE'): ZEROS,
    ('HU_SUBNORMAL_GRADUAL', 'HU_SUBNORMAL_NONE', 'HU_SUBNORMAL_FLUSH'): SUBNORMALS,
    ('HU_INF_NONE', 'HU_INF_IEEE', 'HU_INF_TOP'): INFINITIES,
    ('HU_NAN_NONE', 'HU_NAN_IEEE', 'HU_NAN_IEEE_ONES', 'HU_NAN_ONES', 'HU_NAN_NEGZERO', 'HU_NAN_TOP'): NANS,
    ('HU_OVERFLOW_INF', 'HU_OVERFLOW_NAN', 'HU_OVERFLOW_MAX'): OVERFLOWS,
    ('HU_NEGATIVE_NAN', 'HU_NEGATIVE_LOW', 'HU_NEGATIVE_STOP'): NEGATIVES,
    ('HU_TYPE_NONE', 'HU_TYPE_CODES', 'HU_TYPE_VALUES32', 'HU_TYPE_VALUES64', 'HU_TYPE_BINARY32', 'HU_TYPE_BINARY64',
     'HU_TYPE_INT8', 'HU_TYPE_UINT8', 'HU_TYPE_INT4', 'HU_TYPE_UINT4', 'HU_TYPE_INT32'): ELEMENTS,
    ('HU_CLASS_NAN', 'HU_CLASS_NEGATIVE_INFINITY', 'HU_CLASS_NEGATIVE_NORMAL', 'HU_CLASS_NEGATIVE_SUBNORMAL',
     'HU_CLASS_NEGATIVE_ZERO', 'HU_CLASS_POSITIVE_ZERO', 'HU_CLASS_POSITIVE_SUBNORMAL', 'HU_CLASS_POSITIVE_NORMAL',
     'HU_CLASS_POSITIVE_INFINITY'): CLASSES,
    ('HU_SCALED_PARTS', 'HU_SCALED_UNIT', 'HU_SCALED_DECODED'): ('parts', 'unit', 'decoded'),
    ('HU_SCALED_FACTOR_EXACT', 'HU_SCALED_FACTOR_ROUNDED', 'HU_SCALED_FACTOR_TWICE', 'HU_SCALED_FACTOR_ALPHA'): ('exact', 'rounded', 'twice',
        'alpha'),
    ('HU_HADAMARD_ALONG_ROWS', 'HU_HADAMARD_ALONG_COLUMNS'): ('rows', 'columns'),
    ('HU_HADAMARD_ROOT', 'HU_HADAMARD_POWER', 'HU_HADAMARD_SUM'): ('root', 'power', 'sum'),
    ('HU_HADAMARD_SIGNS_NONE', 'HU_HADAMARD_SIGNS_MASK', 'HU_HADAMARD_SIGNS_STREAM'): ('none', 'mask', 'stream'),
    ('HU_SGD', 'HU_ADAMW', 'HU_ADAGRAD'): ('sgd', 'adamw', 'adagrad'),
    ('HU_UPDATE_ROUND', 'HU_UPDATE_KAHAN'): ('round', 'kahan'),
    ('HU_DEMOTE_LARGEST', 'HU_DEMOTE_SMALLEST', 'HU_DEMOTE_RANDOM'): ('largest', 'smallest', 'random'),
}
for _names, _words in _ROWS.items():
    assert len(_names) == len(_words)
    ENUMERATORS.update((name, place) for place, name in enumerate(_names))
