/* SPDX-License-Identifier: MIT */
/* See codes.h. */
#include "cli/tensors/codes.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"

cli_code_rule cli_code_rule_of(hu_format format, const char *name) {
  return (cli_code_rule){hu_limits_of(format).width, 0, 0, name};
}

static uint32_t code_at(const void *codes, unsigned size, size_t i) {
  if (size == 1) return ((const uint8_t *)codes)[i];
  return size == 2 ? ((const uint16_t *)codes)[i] : ((const uint32_t *)codes)[i];
}

static int is_wrong(uint32_t code, unsigned size, cli_code_rule rule) {
  uint32_t upper = code >> rule.width, all = UINT32_MAX >> (32 - 8 * size) >> rule.width;
  return upper != 0 && !(rule.twos && upper == all && code >> (rule.width - 1) & 1);
}

size_t cli_codes_wrong(const void *codes, unsigned size, size_t n, cli_code_rule rule) {
  if (!rule.width || rule.width >= 8 * size) return n;
  for (size_t i = 0; i < n; i++)
    if (is_wrong(code_at(codes, size, i), size, rule)) return i;
  return n;
}

/* Returns how many codes of `width` bits leave no bits over, and in how many bytes; 0: --packed does not take them. */
static unsigned packed_codes(unsigned width) { return width == 4 ? 2 : width == 6 ? 4 : 0; }
static unsigned packed_bytes(unsigned width) { return width == 6 ? 3 : 1; }

int cli_codes_check(const char *file, const npy_info *info, const void *codes, cli_code_rule rule) {
  char index[CLI_INDEX_MAX];
  unsigned size = info->size;
  size_t i = cli_codes_wrong(codes, size, info->count, rule);
  if (i == info->count) return CLI_OK;
  const char *remedy = !rule.can_unpack || size != 1 || !packed_codes(rule.width) ? ""
                       : rule.width == 4 ? "; --packed unpacks two codes of a byte"
                                         : "; --packed unpacks four codes of three bytes";
  cli_index_text(index, info, i);
  return cli_fail(file, "holds 0x%0*X at %.80s, which is wider than the %u bits of %s%s", 2 * (int)size,
                  code_at(codes, size, i), index, rule.width, rule.name ? rule.name : "its codes", remedy);
}

int cli_array_may_unpack(const cli_array *x, cli_code_rule rule) {
  return packed_codes(rule.width) && x->info.kind == 'u' && x->info.size == 1;
}

int cli_array_unpack(cli_array *x, cli_code_rule rule) {
  npy_info *info = &x->info;
  const char *name = rule.name ? rule.name : "its codes";
  unsigned codes = packed_codes(rule.width), bytes = packed_bytes(rule.width);
  char shape[NPY_SHAPE_MAX];
  if (!codes) return cli_fail(x->name, "--packed: codes of 4 and 6 bits are packed, %s has %u", name, rule.width);
  if (info->kind != 'u' || info->size != 1)
    return cli_fail(x->name, "--packed: packed codes are uint8, this is %s", npy_dtype(info));
  if (!info->dims) return cli_fail(x->name, "--packed: a single number has no axis along which codes are packed");
  size_t *last = &info->shape[info->dims - 1];
  if (*last % bytes)
    return cli_fail(x->name,
                    "--packed: shape %s: %zu bytes along the last axis are no whole groups of three, "
                    "with four codes of %s in each",
                    npy_shape(shape, info), *last, name);
  if (*last > SIZE_MAX / 2 / codes || info->count > SIZE_MAX / 2 / codes)
    return cli_fail(x->name, "--packed: the codes do not fit the address space");
  if (cli_array_in_rows(x)) return CLI_BAD;
  size_t count = info->count / bytes * codes;
  uint8_t *z = cli_alloc(count, 1);
  hu_status status = z ? hu_unpack_n(count, z, x->data, rule.width, NULL) : HU_E_MEMORY;
  if (z && status != HU_OK) cli_fail_status(x->name, status);
  if (status != HU_OK) {
    free(z);
    return CLI_BAD;
  }
  free(x->copy);
  x->data = x->copy = z;
  info->count = count;
  *last = *last / bytes * codes;
  return CLI_OK;
}

int cli_array_to_codes(void *codes, cli_array *x, hu_format format, size_t *off_grid) {
  char name[CLI_NAME_MAX];
  hu_limits limits = hu_limits_of(format);
  size_t count = x->info.count;
  cli_code_rule rule = cli_code_rule_of(format, cli_format_name(name, format));
  rule.can_unpack = 1;
  if (cli_array_in_rows(x)) return CLI_BAD;
  if (cli_array_is_codes(x)) {
    if (x->info.size * 8 != limits.storage)
      return cli_fail(x->name, "codes of %s are stored as uint%u, this is %s", name, limits.storage,
                      npy_dtype(&x->info));
    if (cli_codes_check(x->name, &x->info, x->data, rule)) return CLI_BAD;
    memcpy(codes, x->data, count * x->info.size);
    return CLI_OK;
  }
  cli_errors errors;
  cli_source from = cli_array_source(x, format), to = cli_codes_source(codes, format);
  hu_status status = cli_encode_source(codes, &from, count, format, (hu_mode){0}, NULL, NULL);
  if (status != HU_OK) return cli_fail_status(x->name, status);
  cli_measure(&errors, &from, &to, count);
  *off_grid += errors.changed;
  return CLI_OK;
}
