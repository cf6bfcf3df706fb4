/* SPDX-License-Identifier: MIT */
/* Finds a conversion by its name: makes records of the rows of texts, and reads families and names with parameters. */
#include <string.h>

#include "emu/conversion/rows.h"
#include "halfulp/conversion.h"

static const struct {
  const char *family, *tested;
} families[] = {
    {"cuda.", "CUDA Toolkit 13.0, cuda_fp8.h cuda_fp6.h cuda_fp4.h cuda_fp16.h cuda_bf16.h, their host code"},
    {"torch.", "PyTorch 2.15.0, on the CPU (x86-64)"},
    {"ml_dtypes.", "ml_dtypes 0.6.0 with NumPy 2.4"},
    {"numpy.", "NumPy 2.4"},
    {"onnx.", "onnx 1.23.2, its reference implementation"},
    {"jax.", "JAX 0.10.2 on the CPU"},
    {"ocp.", "the specifications' text; ml_dtypes, CUDA and gfloat agree where they do the same"},
    {"gfloat.", "gfloat 0.5.2"},
    {"chop.", "pychop 0.6.2, NumPy backend, faithful to MATLAB's chop"},
    {"qtorch.", "qtorch 0.3.0, its C++ source for the CPU"},
    {"mx.", "microxcaling 7bc4195, once, by hand; by the tests its published formulas in NumPy"},
    {"te.", "Transformer Engine 2.20.2, its reference of NVFP4; its formulas; d0067d0, its references, once, by hand"},
    {"torchao.", "torchao 0.18.0, CPU"},
    {"ggml.", "gguf 0.19.0, llama.cpp's Python package"},
    {"riscv.e5m2", "the text of the RISC-V ISA manual, zvfofp8min.adoc at 37f5304"},
    {"riscv.", "the SoftFloat of riscv-isa-sim 55b4658, once, by hand: no test runs it"},
    {"intel.vcvt2ps2phx", "two numbers by hand, and itself (golden digests); no processor has run it"},
    {"intel.",
     "steps written from a public model in Python (ref_avx10_b.py), for every binary16 number; no processor has run "
     "them"},
    {"ptx.", "the text of PTX ISA 8.7 in integers, except for binary16 below 2^-14; no device has run them"},
    {"tt.", "integer steps written from Packers/FormatConversion.md and blockfloat_common.cpp; no device has run them"},
};

static hu_conversion_row row_at(size_t i) {
  static const hu_conversion_row none;
  if (i < hu_conversion_casts) return hu_conversion_rows_casts[i];
  i -= hu_conversion_casts;
  if (i < hu_conversion_emulators) return hu_conversion_rows_emulators[i];
  i -= hu_conversion_emulators;
  return i < hu_conversion_units ? hu_conversion_rows_units[i] : none;
}

size_t hu_conversion_count(void) { return hu_conversion_casts + hu_conversion_emulators + hu_conversion_units; }

/* "rne/finite": the text up to the slash, and what is behind it. */
static const char *split(char head[HU_FORMAT_TEXT_MAX], const char *text) {
  const char *slash = strchr(text, '/');
  size_t n = slash ? (size_t)(slash - text) : strlen(text);
  memcpy(head, text, n);
  head[n] = 0;
  return slash ? slash + 1 : "";
}

static void put_more(hu_conversion *conversion, const char *name) {
  conversion->through = "";
  for (size_t i = 0; i < hu_conversion_more_count; i++) {
    const hu_conversion_more *more = &hu_conversion_more_rows[i];
    if (strcmp(more->name, name) != 0) continue;
    conversion->through = more->through;
    conversion->codes = more->codes;
  }
}

/* The rows are right, which the tests look at; a wrong one would become a record that the check refuses. */
static hu_conversion record_of(const hu_conversion_row *row) {
  hu_conversion conversion;
  char head[HU_FORMAT_TEXT_MAX];
  memset(&conversion, 0, sizeof conversion);
  const char *rest = split(head, row->mode);
  hu_status status = hu_format_parse(&conversion.format, row->format, NULL);
  if (status == HU_OK) status = hu_mode_round_parse(&conversion.mode, head);
  rest = split(head, rest);
  if (status == HU_OK && *head) status = hu_mode_saturate_parse(&conversion.mode, head);
  conversion.nan_made = strcmp(rest, "canonical") == 0;
  if (status == HU_OK && *row->first) {
    rest = split(head, row->first);
    if (*head) status = hu_format_parse(&conversion.first, head, NULL);
    if (status == HU_OK) status = hu_mode_round_parse(&conversion.first_mode, rest);
  }
  conversion.operand = row->operand;
  conversion.nan = status == HU_OK ? row->nan : UINT8_MAX;
  conversion.nan64 = row->nan64;
  conversion.nan_code = row->nan_code;
  conversion.scaling = row->scaling;
  put_more(&conversion, row->name);
  return conversion;
}

static const char *tested_of(const char *name) {
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
    if (!strncmp(name, families[i].family, strlen(families[i].family))) return families[i].tested;
  return "";
}

hu_conversion_entry hu_conversion_at(size_t i) {
  hu_conversion_entry entry;
  memset(&entry, 0, sizeof entry);
  hu_conversion_row row = row_at(i);
  if (!row.name) return entry;
  entry.name = row.name;
  entry.stands = row.stands;
  entry.tested = tested_of(row.name);
  entry.note = row.note;
  entry.conversion = record_of(&row);
  return entry;
}

/* A decimal number from low to high without leading zeros; what follows it, NULL if there is none. */
static const char *read_number(unsigned *z, const char *text, unsigned low, unsigned high) {
  unsigned n = 0;
  if (*text < '1' || *text > '9') return NULL;
  while (*text >= '0' && *text <= '9' && n <= high) n = 10 * n + (unsigned)(*text++ - '0');
  *z = n;
  return n < low || n > high ? NULL : text;
}

/* float_quantize(exp=E, man=M, rounding="nearest"): every code is finite, ties go away, no -0. Below 2^emin the operand
 * is added to 2^emin in binary32 first, which rounds it to multiples of 2^(emin - 23), ties to even: the same as one
 * rounding into a format of 23 digits with this emin. A NaN ends as max, with its sign. */
static hu_conversion qtorch_float(unsigned e, unsigned m) {
  hu_conversion conversion;
  memset(&conversion, 0, sizeof conversion);
  conversion.format = hu_format_finite(e, m, 0);
  conversion.format.negzero = 0;
  conversion.mode.round = HU_RNA;
  conversion.mode.saturate = HU_SAT_FINITE;
  conversion.first = hu_format_ieee(8, 23, (1 << (e - 1)) - 128);
  conversion.nan = conversion.nan64 = HU_NAN_BY_SIGN;
  conversion.nan_code = HU_NO_CODE;
  conversion.scaling = conversion.through = "";
  return conversion;
}

static hu_status find_qtorch(hu_conversion *conversion, const char *name) {
  static const char begin[] = "qtorch.float(";
  unsigned e = 0, m = 0;
  if (strncmp(name, begin, sizeof begin - 1) != 0) return HU_E_NAME;
  const char *at = read_number(&e, name + sizeof begin - 1, 2, 7);
  at = at && *at == ',' ? read_number(&m, at + 1, 1, 22) : NULL;
  if (!at || strcmp(at, ")") != 0) return HU_E_NAME;
  *conversion = qtorch_float(e, m);
  return HU_OK;
}

hu_status hu_conversion_find(hu_conversion *conversion, const char *name) {
  if (!conversion || !name) return HU_E_NULL;
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    hu_conversion_row row = row_at(i);
    if (strcmp(row.name, name) != 0) continue;
    *conversion = record_of(&row);
    return HU_OK;
  }
  if (hu_conversion_parse(conversion, name, NULL) == HU_OK) return HU_OK;
  return find_qtorch(conversion, name);
}
