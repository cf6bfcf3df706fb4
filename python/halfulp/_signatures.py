# SPDX-License-Identifier: MIT
"""What the C functions take and return, a word an argument; test_abi.py reads the same from the headers."""
from __future__ import annotations

import ctypes as c

from . import _structs as s

WORDS = {
    'size': c.c_size_t, 'step': c.c_ssize_t, 'pointer': c.c_void_p, 'text': c.c_char_p, 'int': c.c_int,
    'unsigned': c.c_uint, 'u8': c.c_uint8, 'u32': c.c_uint32, 'i64': c.c_int64, 'u64': c.c_uint64, 'float': c.c_float,
    'double': c.c_double, 'status': c.c_int, 'none': None,
}
WORDS.update((name[3:], kind) for name, kind in s.RECORDS.items())

_HADAMARD = 'size size pointer size pointer size pointer pointer -> status'

# libhalfulp: arguments, then what is returned.
MAIN = {
    'status_name': 'int -> text', 'status_text': 'int -> text', 'levels': '-> u32',
    'level_name': 'u32 -> text',
    'format_check': 'format pointer -> status', 'limits_of': 'format -> limits',
    'format_fits_binary32': 'format -> int',
    'format_parse_axis': 'pointer text pointer pointer -> status', 'format_text': 'pointer size format -> size',
    'format_count': '-> size', 'format_at': 'size -> format_entry', 'format_id': 'format -> text',
    'mode_check': 'mode -> status', 'mode_round_parse': 'pointer text -> status',
    'mode_round_hint': 'text -> text', 'conversion_parse': 'pointer text pointer -> status',
    'path_parse': 'pointer text pointer pointer -> status', 'path_rule_parse': 'pointer text pointer -> status',
    'path_rule_count': '-> size', 'path_rule_at': 'size -> path_rule_entry',
    'path_check': 'pointer pointer pointer -> status',
    'path_apply': 'size pointer pointer pointer pointer pointer -> status',
    'mode_saturate_parse': 'pointer text -> status', 'mode_nan_parse': 'pointer text -> status',
    'mode_round_text': 'pointer mode -> text', 'stream_words_n': 'size pointer stream -> none',
    'operation_at': 'size -> operation', 'operation_find': 'text -> int',
    'pack_n': 'size pointer pointer unsigned pointer -> status',
    'unpack_n': 'size pointer pointer unsigned pointer -> status',
    'apply': 'int size pointer pointer pointer -> status',  # op, n, z, x, how
    'accum_check': 'pointer -> status', 'accum_parse': 'pointer text pointer -> status',
    'accum_text': 'pointer size pointer -> size', 'accum_takes': 'pointer size pointer -> size',
    'accum_any': 'accum -> accum', 'accum_is_scaled': 'pointer -> int',
    'type_size': 'type -> size', 'type_width': 'type -> unsigned', 'accum_preset_count': '-> size',
    'accum_preset_at': 'pointer size -> status', 'accum_preset_find': 'pointer text -> status',
    'dot': 'pointer pointer -> status',
    'multiply': 'pointer pointer -> status', 'multiply_space': 'pointer pointer -> size',
    'gemm_exact64': 'size format format pointer -> int',
    'scaling_check': 'pointer pointer -> status', 'scaling_parse': 'pointer text pointer -> status',
    'scaling_text': 'pointer size pointer -> size', 'scaling_count': '-> size', 'scaling_at': 'size -> scaling_entry',
    'scaling_rule_count': '-> size', 'scaling_rule_at': 'size -> scaling_entry',
    'scaled_sizes_of': 'size size pointer -> scaled_sizes',
    'scaled_apply': 'size size pointer pointer pointer pointer -> status',  # rows, cols, z, x, extra, how
    'scaled_search': 'size size pointer pointer pointer pointer pointer -> status',  # rows, cols, z, x, weights, stats, how
    'scaled_work_size': 'size size pointer pointer -> size',
    'hadamard_forward': _HADAMARD, 'hadamard_inverse': _HADAMARD,
    'scaled_pack': 'size size pointer pointer size pointer pointer -> status',
    'scaled_unpack': 'size size pointer size pointer pointer pointer -> status', 'scaled_sum_check': 'pointer -> status',
    'scaled_tile': 'size size pointer pointer size -> status',
    'scaled_untile': 'size size pointer size pointer -> status',
    's2fp8_parse': 'pointer text pointer -> status', 's2fp8_text': 'pointer size pointer -> size',
    's2fp8_sum_n': 'size pointer step pointer pointer -> status',
    's2fp8_scale_of': 'pointer pointer pointer pointer -> status',
    's2fp8_scale_from': 'pointer i64 i64 pointer -> status',
    's2fp8_scale_stored': 'pointer float float pointer -> status',
    's2fp8_apply': 'size pointer pointer pointer pointer pointer -> status',  # n, z, x, kind, scale, how
    's2fp8_truncate': 'size pointer pointer pointer pointer pointer pointer -> status',
    'hif4_parse': 'pointer text pointer -> status',
    'number_check': 'number pointer -> status', 'number_equal': 'number number -> int',
    'number_limits_of': 'number -> number_limits', 'number_parse': 'pointer text pointer pointer -> status',
    'number_text': 'pointer size number -> size', 'number_count': '-> size', 'number_at': 'size -> number_entry',
    'number_id': 'number -> text', 'conversion_count': '-> size', 'conversion_at': 'size -> conversion_entry',
    'conversion_find': 'pointer text -> status',
    'conversion_apply': 'size pointer pointer pointer pointer pointer -> status',
    'conversion_apply_scaled': 'size size pointer pointer pointer pointer pointer pointer -> status',
    'decode64': 'format u32 -> double', 'apply_code': 'int format mode pointer u32 pointer -> u32',
    'collective_parse': 'pointer text pointer -> status', 'collective_text': 'pointer size pointer -> size',
    'collective_reduce': 'size size pointer format pointer pointer pointer -> status',
    'collective_reduce_part': 'size size size size pointer format pointer pointer pointer -> status',
    'sum_add_all': 'pointer size view pointer -> status', 'sum_add_dot': 'pointer size view view pointer -> status',
    'sum_add64': 'pointer double -> none', 'sum_add_product64': 'pointer double double -> none',
    'sum_merge': 'pointer pointer -> none',
    'sum_round': 'pointer format mode u32 pointer -> u32',
    'sum_round64': 'pointer -> double', 'sum_write': 'pointer size pointer -> size',
    'sum_read': 'pointer pointer size -> status',
    'p3109_at': 'int -> p3109_operation', 'p3109_find': 'text -> int',
    'p3109_compute_n': 'int size pointer format p3109_projection pointer pointer -> status',
}

# libhalfulp-cuda.
CUDA = {
    'device_available': 'pointer size -> status', 'device_synchronize': 'pointer -> status',
    'device_versions': 'pointer size -> none',
    'cuda': 'pointer -> where',
}

# libhalfulp-train.
TRAIN = {
    'rounding_check': 'pointer -> status', 'rounding_parse': 'pointer text pointer -> status',
    'rounding_apply': 'size size pointer pointer pointer pointer pointer -> status',
    'rounding_bits': 'size size pointer -> u64',
    'loss_rule_check': 'pointer pointer -> status', 'loss_rule_parse': 'pointer text pointer -> status',
    'loss_rule_text': 'pointer size pointer -> size', 'loss_scale_start': 'pointer -> loss_scale',
    'loss_scale_update': 'pointer pointer gradient_found -> int',
    'gradient_unscale_n': 'size pointer float pointer -> none', 'loss_scale_of_gmax': 'float float int -> float',
    'optimizer_sgd': 'format -> optimizer', 'optimizer_adamw': 'format -> optimizer',
    'optimizer_adagrad': 'format -> optimizer', 'optimizer_muon': 'format -> optimizer',
    'optimizer_check': 'pointer pointer -> status', 'optimizer_check_step': 'pointer pointer -> status',
    'optimizer_tick': 'pointer pointer -> none',
    'optimizer_step': 'size pointer pointer pointer stream pointer -> status', 'optimizer_bytes': 'pointer -> size',
    'optimizer_step_matrix': 'pointer pointer pointer pointer stream pointer pointer -> status',
    'optimizer_bits': 'size pointer -> u64',
    'ratio_parse': 'pointer text -> status', 'ratio_usable': 'ratio -> int',
    'layout_check': 'pointer -> status', 'layout_elements': 'pointer -> u64',
    'assign_high': 'pointer pointer -> status', 'assign_uniform': 'pointer pointer -> status',
    'assign_operator': 'pointer pointer -> status', 'assign_operator_prime': 'pointer pointer -> status',
    'assign_demote': 'pointer pointer ratio unsigned stream -> status',
    'assign_keep_parameter_gradients': 'pointer pointer -> none', 'assign_ratio': 'pointer pointer -> ratio',
    'assign_promote': 'pointer pointer pointer pointer ratio -> size',
}

# The same library: models, nets and whole runs.
TRAIN.update({
    'model_parse': 'pointer text pointer -> status',
    'model_build': 'pointer pointer pointer pointer pointer -> status',
    'model_feed': 'pointer pointer pointer -> status', 'model_describe': 'pointer size pointer pointer -> size',
    'net_new': 'size u32 -> pointer', 'net_free': 'pointer -> none', 'net_status': 'pointer pointer -> status',
    'net_cross_entropy': 'pointer int double -> int', 'net_squared_error': 'pointer int double -> int',
    'net_absolute_error': 'pointer int double -> int', 'net_logistic': 'pointer int double -> int',
    'net_smooth_l1': 'pointer int double double -> int',
    'net_cross_entropy_smoothed': 'pointer int double double unsigned -> int',
    'net_row_weights': 'pointer pointer -> status', 'net_forget_states': 'pointer -> status',
    'net_ctc': 'pointer int double u32 int unsigned -> int', 'ctc_greedy': 'size size pointer u32 pointer -> size',
    'edit_distance': 'size pointer size pointer -> size', 'net_parameter_name': 'pointer int -> text',
    'net_values': 'pointer -> int', 'net_parameters': 'pointer -> int',
    'net_round_value': 'pointer int pointer pointer -> status',
    'net_round_parameter': 'pointer int pointer pointer -> status',
    'net_round_product': 'pointer int pointer -> status', 'product_rounding_plain': '-> product_rounding',
    'net_initialize': 'pointer u64 -> status', 'net_labels': 'pointer pointer -> status',
    'net_targets': 'pointer pointer -> status', 'net_forward': 'pointer int pointer -> status',
    'net_backward': 'pointer float -> status',
    'net_update': 'pointer pointer pointer pointer pointer pointer -> status',
    'net_value': 'pointer int -> net_tensor', 'net_parameter': 'pointer int -> net_tensor',
    'net_set_parameter': 'pointer int pointer -> status', 'net_forget_counts': 'pointer -> none',
    'net_product_counts': 'pointer int pointer -> int', 'net_moment_counts': 'pointer int pointer -> int',
    'net_muon_parameter': 'pointer int int -> status', 'net_rule_parameter': 'pointer int pointer -> status',
    'parameter_rule_none': '-> parameter_rule',
    'net_digest': 'pointer -> u64', 'net_value_kind': 'pointer int -> text',
    'trainer_key_count': '-> size', 'trainer_key_at': 'size -> trainer_key', 'trainer_new': '-> pointer',
    'trainer_free': 'pointer -> none', 'trainer_set': 'pointer text text pointer -> status',
    'trainer_get': 'pointer text -> text', 'trainer_begin': 'pointer text pointer -> status',
    'trainer_step': 'pointer pointer -> status', 'trainer_steps': 'pointer -> u64',
    'trainer_epoch_of': 'pointer u64 -> u64', 'trainer_steps_an_epoch': 'pointer -> u64', 'trainer_at': 'pointer -> u64', 'trainer_done': 'pointer -> int',
    'trainer_evaluate_as': 'pointer int unsigned pointer -> status', 'trainer_data_digest': 'pointer -> u64',
    'trainer_net': 'pointer -> pointer', 'trainer_digest': 'pointer -> u64',
    'trainer_describe': 'pointer pointer pointer size pointer -> size',
    'trainer_memory_of': 'pointer -> trainer_memory', 'trainer_stored_of': 'pointer -> trainer_memory',
    'trainer_tensor_count': 'pointer -> size', 'trainer_tensor_at': 'pointer size -> trainer_tensor',
    'trainer_read': 'pointer size pointer -> status', 'trainer_write': 'pointer size pointer -> status',
    'trainer_state': 'pointer pointer size -> size', 'trainer_resume': 'pointer text pointer -> status',
})


# libhalfulp-layouts.
LAYOUTS = {
    'checkpoint_layout_count': '-> size', 'checkpoint_layout_at': 'size -> checkpoint_layout',
    'checkpoint_open': 'pointer text text pointer -> status', 'checkpoint_close': 'pointer -> none',
    'checkpoint_count': 'pointer -> size', 'checkpoint_at': 'pointer size -> checkpoint_tensor',
    'checkpoint_find': 'pointer text -> size', 'checkpoint_read': 'pointer size size size pointer -> status',
    'checkpoint_codes': 'pointer size size size pointer -> status',
    'checkpoint_scales': 'pointer size size size pointer -> status', 'checkpoint_second': 'pointer size size -> float',
    'checkpoint_bytes': 'pointer size pointer -> pointer',
    'checkpoint_target_count': '-> size', 'checkpoint_target_at': 'size -> checkpoint_target',
    'checkpoint_write': 'pointer text pointer pointer pointer -> status',
}


# libhalfulp-pictures, whose functions are hui_picture_NAME (cli/pictures/pictures.h).
PICTURES = {
    'plot': 'pointer pointer size mode stream pointer -> int',
    'exponents': 'pointer text pointer pointer int int pointer -> int',
    'ratios': 'pointer text text pointer pointer text size -> int', 'page': 'pointer text text -> int',
    'free': 'pointer -> none',
}


def declare(library: c.CDLL, table: dict, prefix: str = 'hu_') -> None:
    """Give the functions of a library their types. AttributeError: it lacks one, so it is another version."""
    for name, words in table.items():
        arguments, _, returned = words.partition('->')
        function = getattr(library, prefix + name)
        function.argtypes = [WORDS[word] for word in arguments.split()]
        function.restype = WORDS[returned.strip()]
