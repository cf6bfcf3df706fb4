/* SPDX-License-Identifier: MIT */
/* A block of which two sides, or two rules, make different things: as text and as JSON. See report.h. */
#include <math.h>

#include "cli/audit/report.h"
#include "cli/base/numbers.h"

static void print_scale(FILE *out, const audit_shown *shown, const audit_tensor *x, int k) {
  if (x && !x->scaled) return;
  unsigned digits = x ? (hu_limits_of(x->scale).width + 3) / 4 : 2;
  fprintf(out, "scale 0x%0*x = %s", (int)digits, (unsigned)shown->scale_code[k], DECIMAL((double)shown->scale[k]));
  if (!isnan(shown->amax) || (x && x->second)) fprintf(out, ", second level %s", DECIMAL((double)shown->second[k]));
  fputs(", ", out);
}

void audit_print_block(FILE *out, const char *indent, const audit_shown *shown, const audit_tensor *const x[2],
                       const char *const names[2]) {
  if (shown->known) {
    fprintf(out, "%svalues", indent);
    for (size_t i = 0; i < shown->n; i++) fprintf(out, " %s", DECIMAL((double)shown->x[i]));
    if (shown->all > shown->n) fprintf(out, " ... (%zu)", shown->all);
    if (!isnan(shown->amax)) fprintf(out, "; amax of the tensor %s", DECIMAL((double)shown->amax));
    fputc('\n', out);
  }
  for (int k = 0; k < 2; k++) {
    fprintf(out, "%s%s: ", indent, names[k]);
    print_scale(out, shown, x[k], k);
    fputs("codes", out);
    for (size_t i = 0; i < shown->n; i++) fprintf(out, " %x", shown->code[k][i]);
    if (shown->all > shown->n) fputs(" ...", out);
    fputc('\n', out);
  }
}

static void print_shown(FILE *out, const cli_value *value) {
  const audit_shown *shown = value->record;
  if (!shown->there) {
    fputs("null", out);
    return;
  }
  cli_json(out, "{'matrix': ?, 'block': [?, ?], 'elements': ?, 'amax': ?, 'values': ", JSON(shown->matrix),
           JSON(shown->p), JSON(shown->q), JSON(shown->all), cli_known((double)shown->amax));
  if (!shown->known) fputs("null", out);
  for (size_t i = 0; shown->known && i < shown->n; i++)
    cli_json(out, "??", cli_plain(i ? ", " : "["), JSON((double)shown->x[i]));
  fputs(shown->known ? "], \"sides\": [" : ", \"sides\": [", out);
  for (int k = 0; k < 2; k++) {
    cli_json(out, "?{'scale': ?, 'scale_code': ?, 'second': ?, 'codes': [", cli_comma(k == 0),
             JSON((double)shown->scale[k]), JSON(shown->scale_code[k]), JSON((double)shown->second[k]));
    for (size_t i = 0; i < shown->n; i++) fprintf(out, "%s%u", i ? ", " : "", shown->code[k][i]);
    fputs("]}", out);
  }
  fputs("]}", out);
}

cli_value audit_shown_value(const audit_shown *shown) { return (cli_value){.print = print_shown, .record = shown}; }
