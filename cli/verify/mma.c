/* SPDX-License-Identifier: MIT */
/* The golden file of matrix units, mma/probes.txt (tests/golden/README.md): dot products under named models. */
#include <stdio.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/vectors/dot_line.h"
#include "cli/verify/verify.h"
#include "halfulp/arith.h"

static int is_nan(hu_type element, uint64_t result) {
  if (element.kind == HU_TYPE_BINARY64) return (result & INT64_MAX) > 0x7FF0000000000000u;
  return element.kind == HU_TYPE_CODES && hu_class(element.format, (uint32_t)result) == HU_CLASS_NAN;
}

/* The line's model and elements; under a unit's name D is in the unit's own format, with its NaN. */
static int read_setting(cli_dot *dot, char *const *word, const cli_lines *lines) {
  int named;
  char what[4200];
  memset(dot, 0, sizeof *dot);
  snprintf(what, sizeof what, "%s:%lu: model", lines->name, lines->number);
  if (cli_dot_model(dot, what, word[PROBE_MODEL], &named)) return CLI_BAD;
  dot->recorded = 1;
  dot->depth = 1; /* the probes are shorter than an instruction at times */
  int right = cli_parse_element(&dot->a, word[PROBE_FA]) && cli_parse_element(&dot->b, word[PROBE_FB]);
  if (right && !named) right = cli_parse_element(&dot->result, word[PROBE_FD]);
  return right ? CLI_OK : cli_lines_fail(lines, "not a line of a golden file");
}

static int check_line(verify_item *item, const cli_lines *lines) {
  char *word[PROBE_WORDS];
  uint64_t result, want = 0;
  cli_dot dot;
  if (cli_split(lines->line, word, PROBE_WORDS) != PROBE_WORDS)
    return cli_lines_fail(lines, "not a line of a golden file");
  if (read_setting(&dot, word, lines)) return CLI_BAD;
  int any_nan = !strcmp(word[PROBE_D], "nan");
  if (!any_nan && !hex_parse_any(&want, word[PROBE_D], UINT64_MAX))
    return cli_lines_fail(lines, "not a line of a golden file");
  int count = strcmp(word[PROBE_SA], "-") ? PROBE_D - PROBE_A : PROBE_SA - PROBE_A;
  if (cli_dot_line(&result, NULL, &dot, word + PROBE_A, count, lines, NULL)) return CLI_BAD;
  if (verify_case(item, any_nan ? is_nan(dot.result, result) : result == want, result))
    fprintf(stderr, "halfulp: %s: %s, %s: %llx, the file has %s\n", lines->name, word[PROBE_ID], word[PROBE_MODEL],
            (unsigned long long)result, word[PROBE_D]);
  return CLI_OK;
}

int verify_mma(verify_item *item, const verify_setup *setup) {
  char path[4096];
  cli_lines lines;
  unsigned long long stated = 0;
  int next, status = CLI_OK;
  snprintf(path, sizeof path, "%s/%s", setup->golden, item->name);
  if (cli_own_lines(&lines, path)) return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(&lines)) != 0) {
    if (next < 0)
      status = CLI_BAD;
    else if (lines.line[0] == '#')
      (void)sscanf(lines.line, "# count: %llu", &stated);
    else
      status = check_line(item, &lines);
  }
  if (status == CLI_OK && (item->cases == 0 || item->cases != stated))
    status = cli_fail(lines.name, "%llu lines, the head says %llu", (unsigned long long)item->cases, stated);
  cli_lines_close(&lines);
  return status;
}
