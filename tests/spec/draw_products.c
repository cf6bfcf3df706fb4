/* SPDX-License-Identifier: MIT */
/* tests/spec/draw_products.c - section 9 of docs/scaled.md: products of scaled tensors, held against the model of
 * tests/scaled_gemm. */
#include <stdio.h>

#include "halfulp/scalar.h"
#include "tests/scaled_gemm/product.h"
#include "tests/spec/lines.h"

static void line_row(const char *letter, const char *name, const uint64_t *x, size_t n, int digits) {
  char field[32];
  snprintf(field, sizeof field, "%s%s", name, letter);
  line_patterns(field, x, n, digits);
}

static void line_layout(const char *letter, const hu_scaling *d, hu_format plain) {
  char field[8], text[HU_SCALING_TEXT_MAX] = "plain";
  if (d) (void)hu_scaling_text(text, sizeof text, d);
  snprintf(field, sizeof field, "l%s", letter);
  line_text(field, text);
  snprintf(field, sizeof field, "e%s", letter);
  line_format(field, d ? d->element : plain);
  snprintf(field, sizeof field, "s%s", letter);
  if (d) line_format(field, d->scale);
}

/* Codes of the matrix's elements, row by row; of a plain one of values the codes of these. */
static void line_matrix(const char *letter, const matrix *x) {
  static uint64_t codes[PRODUCT_ROOM], scales[PRODUCT_ROOM];
  hu_format f = x->scaled ? x->scaling.element : x->operand.plain.format;
  int values = !x->scaled && x->operand.plain.storage == HU_STORAGE_VALUES;
  size_t bytes = values ? 4 : hu_limits_of(f).storage / 8, n = x->rows * x->cols;
  line_layout(letter, x->scaled ? &x->scaling : NULL, f);
  for (size_t i = 0; i < n; i++) {
    uint32_t code = t_get(x->codes, bytes, (ptrdiff_t)(i / x->cols * x->ld + i % x->cols)), events;
    codes[i] = values ? hu_encode(f, t_mode(HU_RNE), t_float(code), 0, &events) : code;
  }
  line_row(letter, "", codes, n, 0);
  if (!x->scaled) return;
  hu_scaled_sizes s = hu_scaled_sizes_of(x->rows, x->cols, &x->scaling);
  for (size_t i = 0; i < s.block_rows * s.block_cols; i++)
    scales[i] = t_get(x->scales, s.scale_bytes, (ptrdiff_t)(i / s.block_cols * x->lds + i % s.block_cols));
  line_row(letter, "scales_", scales, s.block_rows * s.block_cols, 0);
  uint64_t tensor = t_bits32(x->tensor);
  if (x->scaling.tensor) line_row(letter, "tensor_", &tensor, 1, 8);
}

static void line_sum(const hu_scaled_sum *sum) {
  static const char *const factors[] = {"exact", "rounded", "twice", "alpha"};
  char inside[HU_ACCUM_TEXT_MAX], across[HU_ACCUM_TEXT_MAX], as[HU_FORMAT_TEXT_MAX] = "";
  char text[2 * HU_ACCUM_TEXT_MAX + HU_FORMAT_TEXT_MAX + 32];
  const hu_accum *models[] = {&sum->inside, &sum->across};
  (void)hu_accum_text(inside, sizeof inside, &sum->inside);
  (void)hu_accum_text(across, sizeof across, &sum->across);
  if (hu_format_check(sum->as, NULL) == HU_OK)
    snprintf(as, sizeof as, "%s", hu_format_id(sum->as) ? hu_format_id(sum->as) : "");
  if (!*as && hu_format_check(sum->as, NULL) == HU_OK) (void)hu_format_text(as, sizeof as, sum->as);
  if (sum->way == HU_SCALED_PARTS)
    snprintf(text, sizeof text, "parts(%s;%s;%s)", inside, across, factors[sum->factor]);
  else if (sum->way == HU_SCALED_UNIT)
    snprintf(text, sizeof text, "unit(%s)", inside);
  else
    snprintf(text, sizeof text, "decoded(%s%s%s)", as, *as ? ";" : "", inside);
  line_text("sum", text);
  line_formats_of(models, sum->way == HU_SCALED_PARTS ? 2 : 1, sum->as);
}

static void line_product(const product *p, const expected *e) {
  static uint64_t codes[PRODUCT_ROOM], scales[PRODUCT_ROOM];
  hu_scaled_sizes s = {0};
  size_t blocks = 0;
  line_begin("scaled_gemm");
  line_sum(&p->sum);
  line_decimal("m", (int64_t)p->m);
  line_decimal("k", (int64_t)p->k);
  line_decimal("n", (int64_t)p->n);
  line_matrix("a", &p->a);
  line_matrix("b", &p->b);
  if (p->has_c) line_matrix("c", &p->c);
  line_layout("d", p->scaled ? &p->scaling : NULL, p->format);
  line_mode(p->mode);
  line_hex("key", p->stream.key);
  line_hex("counter", p->stream.counter);
  if (p->amax) line_pattern("amax", t_bits32(*p->amax), 8);
  if (p->scaled) s = hu_scaled_sizes_of(p->m, p->n, &p->scaling);
  blocks = s.block_rows * s.block_cols;
  for (size_t i = 0; i < p->m * p->n; i++) codes[i] = e->codes[i];
  for (size_t i = 0; i < blocks; i++) scales[i] = e->scales[i];
  line_patterns(">codes", codes, p->m * p->n, 0);
  if (p->scaled) line_patterns(">scales", scales, blocks, 0);
  if (p->scaled && p->scaling.tensor) line_pattern(">tensor", t_bits32(e->tensor), 8);
  line_counts(&e->events);
  line_end();
}

void draw_products(t_random *r, unsigned long count) {
  static product p;
  static expected e;
  for (unsigned long i = 0; i < count;) {
    p.m = 1 + t_below(r, 3);
    p.n = 1 + t_below(r, 3);
    p.k = t_below(r, 12) ? 1 + t_below(r, t_below(r, 4) ? 20 : 60) : 0;
    if (!product_draw(&p, r)) continue;
    int transposed = p.a.operand.transposed || p.a.operand.plain.transposed || p.b.operand.transposed ||
                     p.b.operand.plain.transposed ||
                     (p.has_c && (p.c.operand.transposed || p.c.operand.plain.transposed));
    if (!transposed && !(p.values && !p.scaled) && product_model(&p, &e)) {
      const char *wrong = product_check(&p, &e, 1, 0);
      if (wrong) fprintf(stderr, "%s: %s\n", wrong, product_text(&p));
      line_same("a product", wrong != NULL, 0);
      line_product(&p, &e);
      i++;
    }
    product_free(&p);
  }
}
