/* SPDX-License-Identifier: MIT */
/* What recorded results say, in words and as JSON. */
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/identify/distinguish.h"
#include "cli/identify/recorded.h"
#include "cli/identify/report.h"

static double percent(size_t part, size_t whole) { return 100 * (double)part / (double)whole; }

static void print_head(FILE *out, const id_search *search, const id_recorded *recorded) {
  const id_shape *shape = &search->box->shape;
  char a[CLI_NAME_MAX], b[CLI_NAME_MAX], result[CLI_NAME_MAX];
  fprintf(out, "A %s, B %s, D %s, K = %u%s; ", cli_element_name(a, shape->a), cli_element_name(b, shape->b),
          cli_element_name(result, shape->result), shape->n, shape->without_c ? ", without C" : "");
  fprintf(out, recorded->rows.count < recorded->all ? "%zu of %zu rows, spread\n" : "%zu rows\n", recorded->rows.count,
          recorded->all);
}

/* Prints a question on which the first two models differ, if a drawn one is. */
static void print_next_question(FILE *out, const id_search *search, const id_explained *found) {
  enum { TRIES = 4096 };
  id_vectors questions;
  id_random random = {1};
  if (found->models.count < 2) return;
  for (size_t i = found->models.count - 1; i > 0 && found->models.count - i <= 8;
       i--) { /* these have least in common */
    char text[2][HU_ACCUM_TEXT_MAX];
    const hu_accum *x = &found->models.x[0], *y = &found->models.x[i];
    if (id_distinguish(&questions, &search->box->shape, x, y, TRIES, &random, NULL) > 0) {
      id_shorten_difference(&questions, x, y);
      fprintf(out, "no row shows which; on this question %s and %s differ (A B C):\n    ",
              id_model_text(search, x, text[0]), id_model_text(search, y, text[1]));
      id_vectors_print(out, &questions, 0);
      fputc('\n', out);
      id_vectors_free(&questions);
      return;
    }
    id_vectors_free(&questions);
  }
}

static void print_agreeing(FILE *out, const id_search *search, const id_explained *found) {
  enum { SHOWN = 5 };
  char text[2][HU_ACCUM_TEXT_MAX] = {"", ""};
  int shown = 0;
  fprintf(out, "%zu models of those tried give all rows", found->models.count);
  for (size_t i = 0; i < found->models.count && shown <= SHOWN; i++) { /* different records may have one text */
    if (!strcmp(id_model_text(search, &found->models.x[i], text[i & 1]), text[~i & 1])) continue;
    fprintf(out, "%s %s", shown ? "," : ":", shown < SHOWN ? text[i & 1] : "...");
    shown++;
  }
  fputc('\n', out);
  if (found->count) fputs("named units among them:", out);
  for (int i = 0; i < found->count; i++) fprintf(out, "%s %s", i ? "," : "", found->names[i]);
  if (found->count) fputc('\n', out);
  print_next_question(out, search, found);
}

static void print_parts(FILE *out, const id_search *search, const id_recorded *recorded, const id_explained *found) {
  char text[HU_ACCUM_TEXT_MAX];
  fputs("no model of those tried gives all rows; models that give most of those that are left:\n", out);
  for (int i = 0; i < found->part_count; i++) {
    const id_part *part = &found->parts[i];
    fprintf(out, "  %zu rows (%.3g %%)", part->count, percent(part->count, recorded->rows.count));
    if (recorded->n)
      fprintf(out, ", in D[%zu..%zu][%zu..%zu]", part->low[0], part->high[0], part->low[1], part->high[1]);
    fprintf(out, ": %s\n", id_model_text(search, &part->model, text));
  }
  if (found->left)
    fprintf(out, "  %zu rows (%.3g %%): no model\n", found->left, percent(found->left, recorded->rows.count));
}

void id_print_recorded(FILE *out, const id_search *search, const id_recorded *recorded, const id_explained *found) {
  print_head(out, search, recorded);
  if (found->stopped) fputs("stopped before all models of the language were tried\n", out);
  if (found->models.count)
    print_agreeing(out, search, found);
  else
    print_parts(out, search, recorded, found);
  if (found->other_count)
    fputs("other named units of these formats, the rows that they miss, and the first such row:\n", out);
  for (int i = 0; i < found->other_count; i++)
    fprintf(out, "  %-36s %zu of %zu (%.3g %%), %zu\n", found->others[i].name, found->others[i].differs,
            recorded->rows.count, percent(found->others[i].differs, recorded->rows.count),
            recorded->place[found->others[i].first]);
}

void id_print_recorded_json(FILE *out, const id_search *search, const id_recorded *recorded,
                            const id_explained *found) {
  char text[HU_ACCUM_TEXT_MAX];
  cli_json(out, "{'rows': ?, 'all': ?, 'k': ?, 'models': [", JSON(recorded->rows.count), JSON(recorded->all),
           JSON(search->box->shape.n));
  for (size_t i = 0; i < found->models.count; i++)
    cli_json(out, "??", cli_comma(i == 0), JSON(id_model_text(search, &found->models.x[i], text)));
  fputs("],\n  \"presets\": [", out);
  for (int i = 0; i < found->count; i++) cli_json(out, "??", cli_comma(i == 0), JSON(found->names[i]));
  fputs("],\n  \"parts\": [", out);
  for (int i = 0; i < found->part_count; i++) {
    const id_part *part = &found->parts[i];
    cli_json(out, "?{'model': ?, 'rows': ?, 'first': [?, ?], 'last': [?, ?]}", cli_comma(i == 0),
             JSON(id_model_text(search, &part->model, text)), JSON(part->count), JSON(part->low[0]), JSON(part->low[1]),
             JSON(part->high[0]), JSON(part->high[1]));
  }
  cli_json(out, "],\n  'left': ?, 'stopped': ?, 'other_presets': [", JSON(found->left), cli_truth(found->stopped));
  for (int i = 0; i < found->other_count; i++)
    cli_json(out, "?{'preset': ?, 'differs': ?, 'first': ?}", cli_comma(i == 0), JSON(found->others[i].name),
             JSON(found->others[i].differs), JSON(recorded->place[found->others[i].first]));
  fputs("]}\n", out);
}
