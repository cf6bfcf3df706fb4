/* SPDX-License-Identifier: MIT */
/* The CUDA kernels against the CPU: codes, values, matrix products and events, bit for bit. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/device.h"
#include "cli/tensors/array.h"
#include "cli/verify/verify.h"
#include "halfulp/gemm.h"

enum { ROWS = 37, COLUMNS = 29, DEPTH = 41 };

/* Arrays of one item: operands, and a result of each side. */
typedef struct bench {
  size_t n;
  float *x;
  void *cpu, *device;
} bench;

static int same_events(const hu_events *a, const hu_events *b) { return memcmp(a, b, sizeof *a) == 0; }

static void tell(const verify_item *item, const char *what, hu_mode mode, size_t i) {
  char name[CLI_NAME_MAX];
  fprintf(stderr, "halfulp: verify: %s %s %s: CPU and device differ, element %zu first (or the events)\n", item->name,
          what, cli_mode_name(name, mode), i);
}

static size_t first_difference(const bench *b, size_t n, size_t size) {
  size_t i = 0;
  while (i < n && !memcmp((const char *)b->cpu + i * size, (const char *)b->device + i * size, size)) i++;
  return i;
}

/* Compares n results of `size` bytes and the events; all n count as cases. */
static void compare(verify_item *item, const bench *b, size_t n, size_t size, const hu_events ev[2], const char *what,
                    hu_mode mode) {
  size_t i = first_difference(b, n, size);
  int right = i == n && same_events(&ev[0], &ev[1]);
  uint64_t digest = VERIFY_DIGEST_START;
  for (size_t j = 0; j < n * size; j++) digest = (digest ^ ((const uint8_t *)b->cpu)[j]) * 0x100000001B3u;
  if (verify_case(item, right, digest)) tell(item, what, mode, i);
  item->cases += n - 1;
}

static hu_exec on_the_device(const hu_exec *exec) {
  hu_exec there = *exec;
  there.where = hu_cuda_host();
  return there;
}

static int check_encode(verify_item *item, const bench *b, hu_mode mode, const hu_exec *exec) {
  hu_events ev[2] = {{0}, {0}};
  hu_exec there = on_the_device(exec);
  size_t size = hu_limits_of(item->format).storage / 8;
  memset(b->cpu, 0xA5, b->n * size);
  memset(b->device, 0x5A, b->n * size);
  hu_status status = hu_encode_n(b->n, b->cpu, 1, b->x, 1, item->format, mode, exec, &ev[0]);
  if (status == HU_OK) status = hu_encode_n(b->n, b->device, 1, b->x, 1, item->format, mode, &there, &ev[1]);
  if (status != HU_OK) return cli_fail_status("verify: encode", status);
  compare(item, b, b->n, size, ev, "encode", mode);
  return CLI_OK;
}

static int check_quantize(verify_item *item, const bench *b, hu_mode mode, const hu_exec *exec) {
  hu_events ev[2] = {{0}, {0}};
  hu_exec there = on_the_device(exec);
  if (!hu_format_fits_binary32(item->format)) return CLI_OK;
  memset(b->cpu, 0xA5, b->n * sizeof(float));
  memset(b->device, 0x5A, b->n * sizeof(float));
  hu_status status = hu_quantize_n(b->n, b->cpu, 1, b->x, 1, item->format, mode, exec, &ev[0]);
  if (status == HU_OK) status = hu_quantize_n(b->n, b->device, 1, b->x, 1, item->format, mode, &there, &ev[1]);
  if (status != HU_OK) return cli_fail_status("verify: quantize", status);
  compare(item, b, b->n, sizeof(float), ev, "quantize", mode);
  return CLI_OK;
}

/* Operands are codes of the format, any codes, specials among them; the result is binary32. */
static int check_gemm(verify_item *item, const bench *b, uint32_t accum_kind, hu_mode mode, const hu_exec *exec) {
  hu_events ev[2] = {{0}, {0}};
  hu_accum accum = {.kind = accum_kind};
  hu_format format = item->format, fd = hu_format_ieee(8, 23, 0);
  if (accum_kind == HU_ACCUM_FP32 && !hu_format_fits_binary32(format)) return CLI_OK;
  size_t size = hu_limits_of(format).storage / 8;
  uint8_t *codes = cli_alloc(ROWS * DEPTH + DEPTH * COLUMNS, size);
  if (!codes) return CLI_BAD;
  hu_status status = hu_encode_n(ROWS * DEPTH + DEPTH * COLUMNS, codes, 1, b->x, 1, format, (hu_mode){0}, NULL, NULL);
  hu_view x = hu_matrix_codes(codes, DEPTH, format), y = hu_matrix_codes(codes + ROWS * DEPTH * size, COLUMNS, format);
  hu_output on_cpu = hu_matrix_out_of(b->cpu, COLUMNS, hu_type_values(HU_TYPE_VALUES32, fd)),
            on_device = hu_matrix_out_of(b->device, COLUMNS, hu_type_values(HU_TYPE_VALUES32, fd));
  memset(b->cpu, 0xA5, ROWS * COLUMNS * sizeof(float));
  memset(b->device, 0x5A, ROWS * COLUMNS * sizeof(float));
  if (status == HU_OK)
    status = hu_gemm(ROWS, COLUMNS, DEPTH, &on_cpu, &x, &y, NULL, &accum, &(hu_how){mode, exec, &ev[0]});
  hu_exec there = on_the_device(exec);
  if (status == HU_OK)
    status = hu_gemm(ROWS, COLUMNS, DEPTH, &on_device, &x, &y, NULL, &accum, &(hu_how){mode, &there, &ev[1]});
  free(codes);
  if (status != HU_OK) return cli_fail_status("verify: gemm", status);
  compare(item, b, ROWS * COLUMNS, sizeof(float), ev, accum_kind == HU_ACCUM_EXACT ? "gemm exact" : "gemm fp32", mode);
  return CLI_OK;
}

/* Half of the operands are any bit patterns, half lie near the format's range, where the rules differ most. */
static void fill(const verify_item *item, bench *b) {
  hu_stream stream = {0x646576696365u, 0};
  hu_limits limits = hu_limits_of(item->format);
  int low = limits.emin - item->format.m - 3, span = limits.emax + 3 - low;
  for (size_t i = 0; i < b->n; i++) {
    uint32_t word = hu_stream_word(stream, i), exponent = (uint32_t)(low + (int)((word >> 8) % (uint32_t)span) + 127);
    if ((i & 1) && exponent < 255) word = (word & 0x807FFFFFu) | exponent << 23;
    memcpy(&b->x[i], &word, sizeof word);
  }
}

static int check_all(verify_item *item, const bench *b, const hu_exec *exec) {
  hu_mode mode = {0};
  int status = CLI_OK;
  for (mode.round = HU_RNE; mode.round < HU_ROUND_COUNT && status == CLI_OK; mode.round++) {
    mode.bits = mode.round >= HU_SRA ? 8 : 0;
    for (mode.saturate = 0; mode.saturate <= HU_SAT_PROPAGATE && status == CLI_OK; mode.saturate++)
      status = check_encode(item, b, mode, exec);
    mode.saturate = 0;
    if (status == CLI_OK) status = check_quantize(item, b, mode, exec);
    if (status == CLI_OK) status = check_gemm(item, b, HU_ACCUM_EXACT, mode, exec);
    if (status == CLI_OK) status = check_gemm(item, b, HU_ACCUM_FP32, mode, exec);
  }
  return status;
}

int verify_device(verify_item *item, const verify_setup *setup) {
  static const size_t sizes[] = {4099, 1 << 18, 1 << 24};
  char name[CLI_DEVICE_MAX];
  hu_exec exec = {setup->threads, 0, {7, 5}, {0}};
  bench b = {sizes[setup->level], NULL, NULL, NULL};
  if (!cli_device_ask(name)) {
    item->skipped = 1;
    return CLI_OK;
  }
  b.x = cli_alloc(b.n, sizeof *b.x);
  b.cpu = cli_alloc(b.n, 4);
  b.device = cli_alloc(b.n, 4);
  int status = b.x && b.cpu && b.device ? CLI_OK : CLI_BAD;
  if (status == CLI_OK) {
    fill(item, &b);
    status = check_all(item, &b, &exec);
  }
  free(b.x);
  free(b.cpu);
  free(b.device);
  return status;
}
