/* SPDX-License-Identifier: MIT */
/* halfulp audit - why two quantized tensors or models differ, and which rule made one. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/report.h"

enum { KEY_SOURCE = CLI_KEY_OWN, KEY_WHICH };

typedef struct audit_asked {
  cli_quantize_state common; /* layout, report, include, exclude, json */
  const char *formats[2], *source;
  int count, which;
} audit_asked;

static int set(void *context, int key, const char *value) {
  audit_asked *asked = context;
  switch (key) {
    case KEY_SOURCE: asked->source = value; return CLI_OK;
    case KEY_WHICH: asked->which = 1; return CLI_OK;
    case 'f':
      if (asked->count == 2) return cli_fail(NULL, "--format: one for both sides, or one for each");
      asked->formats[asked->count++] = value;
      return CLI_OK;
    default: return cli_quantize_set(&asked->common, key, value);
  }
}

static const cli_option options[] = {
    {KEY_SOURCE, "source", "MODEL", "the values that both sides were quantized from: a model or an .npy file"},
    {KEY_WHICH, "which", NULL, "one operand and --source: which known rules give all of its codes"},
    {'f' | CLI_REPEATS, "format", "FORMAT", ".npy files of codes: their format; twice: that of A and that of B"},
    {CLI_KEY_INCLUDE | CLI_REPEATS, "include", "GLOB", "of the tensors, those of these names"},
    {CLI_KEY_EXCLUDE | CLI_REPEATS, "exclude", "GLOB", "not the tensors of these names"},
    CLI_OPTION_LAYOUT(CLI_KEY_LAYOUT),
    {CLI_KEY_REPORT, "report", "FILE.html", "all of it as a page that stands alone"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "audit",
    "A B | --which FILE --source MODEL",
    "Say why two quantized tensors or models differ, or which rule made one of them",
    "A and B are models (.safetensors, an index, a folder) in any layout that halfulp reads, or .npy files; one may "
    "be\n"
    "the values that the other was quantized from. Of each pair of tensors it says: equal; made, one side being what "
    "a\n"
    "known rule makes of the other; or on which rule they part, with the counts of scales and codes that differ, the\n"
    "smallest block that shows it, and the rule that each side follows. That needs --source, unless A or B has the\n"
    "values.\n\n"
    "Exit code 0: each pair is equal, or made; 1: one is not; 2: wrong usage or input.",
    "  halfulp audit digits_weights.npy digits_weights.npy\n"
    "  halfulp quantize -f nvfp4 --codes digits_weights.npy /tmp/a.npy\n"
    "  halfulp quantize -f nvfp4_te --codes digits_weights.npy /tmp/b.npy\n"
    "  halfulp audit -f nvfp4 -f nvfp4_te --source digits_weights.npy /tmp/a.npy /tmp/b.npy || true\n"
    "  halfulp audit --which -f nvfp4 --source digits_weights.npy /tmp/a.npy",
    options,
    1,
    2,
    set};

static int named(const char *const *globs, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (fnmatch(globs[i], name, 0) == 0) return 1;
  return 0;
}

static int is_chosen(const audit_asked *asked, const char *name) {
  const cli_quantize_state *common = &asked->common;
  return (!common->includes || named(common->include, common->includes, name)) &&
         !named(common->exclude, common->excludes, name);
}

/* Lists the names of both sides, in order, each once. */
static int list_pairs(audit_result *result, const audit_asked *asked, const audit_side side[2],
                      const audit_side *source) {
  size_t i = 0, k = 0;
  int only = side[0].count == 1 && side[1].count == 1;
  result->pairs = cli_alloc(side[0].count + side[1].count, sizeof *result->pairs);
  if (!result->pairs) return CLI_BAD;
  while (i < side[0].count || k < side[1].count) {
    int order = only                 ? 0
                : i == side[0].count ? 1
                : k == side[1].count ? -1
                                     : strcmp(side[0].tensors[i].name, side[1].tensors[k].name);
    audit_pair pair = {.name = order <= 0 ? side[0].tensors[i].name : side[1].tensors[k].name};
    pair.all = asked->which;
    if (order <= 0) pair.x[0] = &side[0].tensors[i++];
    if (order >= 0) pair.x[1] = &side[1].tensors[k++];
    if (source) pair.source = audit_find(source, pair.name, only);
    if (is_chosen(asked, pair.name)) result->pairs[result->count++] = pair;
  }
  if (result->count) return CLI_OK;
  return cli_fail(result->path[0], "no tensor is left to compare");
}

static int compare_all(audit_result *result, const audit_asked *asked) {
  int quiet = asked->common.numeric.json || (asked->common.report && !strcmp(asked->common.report, "-"));
  for (size_t i = 0; i < result->count; i++) {
    audit_pair *pair = &result->pairs[i];
    if (audit_compare(pair)) return CLI_BAD;
    result->verdicts[pair->verdict]++;
    if (!quiet) audit_print_pair(stdout, pair);
  }
  if (!quiet) audit_print_end(stdout, result);
  if (asked->common.numeric.json) audit_json(stdout, result);
  if (asked->common.report && audit_page(asked->common.report, result)) return CLI_BAD;
  return audit_holds(result) ? CLI_OK : CLI_DIFFERENT;
}

static int audit(audit_result *result, const audit_asked *asked, const audit_side side[2], const audit_side *source) {
  const char *report = asked->common.report;
  if (tensors_spare_read(&side[0].in, report) || tensors_spare_read(&side[1].in, report) ||
      (source && tensors_spare_read(&source->in, report)))
    return CLI_BAD;
  int code = list_pairs(result, asked, side, source);
  if (code == CLI_OK) code = compare_all(result, asked);
  for (size_t i = 0; i < result->count; i++) audit_pair_free(&result->pairs[i]);
  free(result->pairs);
  return code;
}

/* Reads the formats of .npy files of codes; the second is the first where one is given. */
static int read_formats(cli_target target[2], const audit_asked *asked) {
  memset(target, 0, 2 * sizeof *target);
  for (int k = 0; k < asked->count; k++)
    if (cli_target_read(&target[k], asked->formats[k])) return CLI_BAD;
  if (asked->count == 1) target[1] = target[0];
  return CLI_OK;
}

static int check(const audit_asked *asked, char **operands, int count) {
  const char *report = asked->common.report;
  if (asked->which && (count != 1 || !asked->source))
    return cli_fail(NULL, "audit: --which takes one operand, and --source with the values that it was made of");
  if (!asked->which && count != 2) return cli_fail(NULL, "audit requires A B, or --which FILE --source MODEL");
  for (int k = 0; report && k < count; k++)
    if (tensors_spare_operand(report, operands[k])) return CLI_BAD;
  if (report && asked->source && tensors_spare_operand(report, asked->source)) return CLI_BAD;
  if (report && !strcmp(report, "-") && asked->common.numeric.json)
    return cli_fail(NULL, "--report - and --json both write to standard output");
  return report ? cli_file_try(report) : CLI_OK;
}

int cli_audit(int argc, char **argv) {
  audit_asked asked = {.count = 0};
  audit_side side[2], source;
  cli_target target[2], values = {.kind = NULL};
  char **operands;
  int count, status = cli_parse(&command, &asked, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (check(&asked, operands, count) || read_formats(target, &asked)) return CLI_BAD;
  const char *layout = asked.common.layout && strcmp(asked.common.layout, TENSORS_AUTO) ? asked.common.layout : NULL;
  audit_result result = {.path = {asked.which ? asked.source : operands[0], operands[asked.which ? 0 : 1]},
                         .source = asked.which ? NULL : asked.source,
                         .which = asked.which};
  if (audit_open(&side[0], result.path[0], asked.which ? NULL : layout, asked.which ? &values : &target[0]))
    return CLI_BAD;
  status = audit_open(&side[1], result.path[1], layout, asked.which ? &target[0] : &target[1]);
  if (status == CLI_OK && result.source) {
    status = audit_open(&source, result.source, NULL, &values);
    if (status == CLI_OK) status = audit(&result, &asked, side, &source), audit_close(&source);
    audit_close(&side[1]);
  } else if (status == CLI_OK) {
    status = audit(&result, &asked, side, NULL);
    audit_close(&side[1]);
  }
  audit_close(&side[0]);
  return status;
}
