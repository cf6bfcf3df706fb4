/* SPDX-License-Identifier: MIT */
/* The golden file of matrix units, mma/probes.txt (tests/golden/README.md): dot products under named models. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/dot_line.h"
#include "cli/models.h"
#include "cli/numbers.h"
#include "cli/verify.h"
#include "halfulp/arith.h"

enum { ID, MODEL, FA, FB, FD, SUM, FIELDS = SUM };

/* Takes the next word off a line; NULL: there is none. */
static char *word(char **rest) {
  char *w;
  do {
    w = strsep(rest, " ");
  } while (w && !*w);
  return w;
}

static int is_nan(hu_element e, uint64_t d) {
  if (e.kind == HU_ELEMENT_BINARY64) return (d & INT64_MAX) > 0x7FF0000000000000u;
  return e.kind == HU_ELEMENT_CODE && hu_class(e.format, (uint32_t)d) == HU_CLASS_NAN;
}

/* The line's model and elements; under a unit's name D is in the unit's own format, with its NaN. */
static int read_setting(cli_dot *dot, char *const field[FIELDS], const cli_lines *lines) {
  int named;
  char what[4200];
  memset(dot, 0, sizeof *dot);
  snprintf(what, sizeof what, "%s:%lu: model", lines->name, lines->number);
  if (cli_dot_model(dot, what, field[MODEL], &named)) return CLI_BAD;
  dot->depth = 1; /* the probes are shorter than an instruction at times */
  int right = cli_parse_element(&dot->a, field[FA]) && cli_parse_element(&dot->b, field[FB]);
  if (right && !named) right = cli_parse_element(&dot->d, field[FD]);
  return right ? CLI_OK : cli_lines_fail(lines, "not a line of a golden file");
}

static int check_line(verify_item *item, const cli_lines *lines) {
  char *rest = lines->line, *field[FIELDS], *last = strrchr(rest, ' ');
  uint64_t d, want = 0;
  cli_dot dot;
  if (!last) return cli_lines_fail(lines, "not a line of a golden file");
  *last++ = 0;
  for (int i = 0; i < FIELDS; i++) {
    field[i] = word(&rest);
    if (!field[i] || !rest) return cli_lines_fail(lines, "not a line of a golden file");
  }
  if (read_setting(&dot, field, lines)) return CLI_BAD;
  char *scales = strstr(rest, " - -");
  if (scales && !hu_accum_is_scaled(&dot.accum)) *scales = 0;
  if (cli_dot_line(&d, &dot, rest, lines, NULL)) return CLI_BAD;
  int any_nan = !strcmp(last, "nan");
  if (!any_nan && !hex_parse_any(&want, last, UINT64_MAX)) return cli_lines_fail(lines, "not a line of a golden file");
  if (verify_case(item, any_nan ? is_nan(dot.d, d) : d == want, d))
    fprintf(stderr, "halfulp: %s: %s, %s: %llx, the file has %s\n", lines->name, field[ID], field[MODEL],
            (unsigned long long)d, last);
  return CLI_OK;
}

int verify_mma(verify_item *item, const verify_setup *setup) {
  char path[4096];
  cli_lines lines;
  unsigned long long stated = 0;
  int next, status = CLI_OK;
  snprintf(path, sizeof path, "%s/%s", setup->golden, item->name);
  if (cli_lines_open(&lines, path)) return CLI_BAD;
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
