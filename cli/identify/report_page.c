/* SPDX-License-Identifier: MIT */
/* The report as a page: a picture of the tree, the parameters, the steps of the search. */
#include <stdlib.h>

#include "cli/base/io.h"
#include "cli/draw/page.h"
#include "cli/identify/report.h"

enum { LEAF_WIDTH = 26, LEVEL_HEIGHT = 34, MARGIN = 24, WIDTH_LEAST = 360 };

/* ---- the tree ---- */

static int depth_of(const id_tree *tree, int i) {
  int most = 0;
  for (int child = tree->node[i].first; child >= 0; child = tree->node[child].next) {
    int depth = 1 + depth_of(tree, child);
    if (depth > most) most = depth;
  }
  return most;
}

/* Draws node i below `y`; leaves take places from left to right. Returns the node's own x. */
static double draw_node(svg *image, const id_tree *tree, int i, double y, double *place) {
  const id_node *node = &tree->node[i];
  char text[16];
  if (node->leaf >= 0) {
    double at = *place;
    *place += LEAF_WIDTH;
    snprintf(text, sizeof text, node->leaf == tree->n ? "C" : "%d", node->leaf);
    svg_text(image, at, y + 4, 12, SVG_MIDDLE, "var(--ink)", "", text);
    return at;
  }
  double first = 0, last = 0, below = y + LEVEL_HEIGHT, xs[512];
  int count = 0;
  for (int child = node->first; child >= 0; child = tree->node[child].next) {
    last = draw_node(image, tree, child, below, place);
    if (count < 512) xs[count++] = last;
    if (child == node->first) first = last;
  }
  double at = (first + last) / 2;
  int many = count > 2;
  for (int j = 0; j < count; j++) svg_line(image, at, y + 5, xs[j], below - 9, many ? "var(--c1)" : "var(--rule)", 1.2);
  svg_rect(image, at - (many ? 12 : 5), y - 5, many ? 24 : 10, 10, many ? "var(--c1)" : "var(--soft)");
  return at;
}

static void put_tree(FILE *out, const id_tree *tree) {
  svg image;
  if (tree->root < 0) {
    fputs("<p>Masking did not show the order of this sum.</p>\n", out);
    return;
  }
  int leaves = tree->node[tree->root].leaves, width = 2 * MARGIN + leaves * LEAF_WIDTH;
  int height = 2 * MARGIN + depth_of(tree, tree->root) * LEVEL_HEIGHT;
  double place = MARGIN + LEAF_WIDTH / 2.0;
  if (width < WIDTH_LEAST) width = WIDTH_LEAST;
  fprintf(out, "<div style=\"max-width:%dpx\">\n", 2 * width);
  page_begin_drawing(&image, out, "tree", width, height, "Order of the sum",
                     "A small square adds two terms; a wide one adds all of its terms at once. C is the accumulator.");
  draw_node(&image, tree, tree->root, MARGIN, &place);
  page_end_drawing(&image);
  fputs("</div>\n", out);
}

/* ---- the rest ---- */

typedef struct page {
  const id_search *search;
  const id_result *result;
  const char *log;
} page;

static void put_question(FILE *out, const id_vectors *questions) {
  char *text = NULL;
  size_t size = 0;
  if (!questions->count) {
    page_cell(out, "question", "");
    return;
  }
  FILE *to = open_memstream(&text, &size);
  if (to) id_vectors_print(to, questions, 0);
  if (to) fclose(to);
  fputs("<td data-head=\"question\"><code>", out);
  svg_escaped(out, text ? text : "");
  fputs("</code></td>", out);
  free(text);
}

static void put_answer(FILE *out, const char *head, const id_shape *shape, uint64_t answer) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to) id_print_answer(to, shape, answer);
  if (to) fclose(to);
  page_cell(out, head, text ? text : "");
  free(text);
}

static void put_head(FILE *out, const char *title, const char *const heads[]) {
  fprintf(out, "<h2>%s</h2>\n<div class=\"wide\"><table class=\"words\"><thead><tr>", title);
  for (; *heads; heads++) fprintf(out, "<th scope=\"col\">%s</th>", *heads);
  fputs("</tr></thead><tbody>\n", out);
}

static void put_parameters(FILE *out, const page *report) {
  static const char *const words[] = {"decided", "partly", "not seen"};
  static const char *const heads[] = {"key", "value", "meaning", "verdict", "question (A B C)", "rules out", NULL};
  put_head(out, "Parameters", heads);
  for (int i = 0; i < report->result->decisions.count; i++) {
    const id_decision *decision = &report->result->decisions.of[i];
    char value[64];
    fputs("<tr>", out);
    page_cell(out, "key", id_axis_key(decision->axis));
    id_axis_text(&report->search->space, decision->axis, &report->result->model, decision->value, value, sizeof value);
    page_cell(out, "value", value);
    page_cell(out, "meaning", id_axis_meaning(decision->axis));
    page_cell(out, "verdict", words[decision->verdict]);
    put_question(out, &decision->evidence);
    id_axis_text(&report->search->space, decision->axis, &report->result->model, decision->nearest, value,
                 sizeof value);
    page_cell(out, "rules out", decision->evidence.count ? value : "");
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void put_others(FILE *out, const page *report) {
  static const char *const heads[] = {"preset", "question (A B C)", "the box gives", "the preset gives", NULL};
  const id_shape *shape = &report->search->box->shape;
  if (!report->result->names.other_count) return;
  put_head(out, "Other presets of these formats", heads);
  for (int i = 0; i < report->result->names.other_count; i++) {
    const id_other *other = &report->result->names.others[i];
    fputs("<tr>", out);
    page_cell(out, "preset", other->name);
    put_question(out, &other->question);
    put_answer(out, "the box gives", shape, id_get(&other->question, ID_D, 0, 0));
    put_answer(out, "the preset gives", shape, other->gives);
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void put_text(FILE *out, const char *title, const char *text) {
  fprintf(out, "<h2>%s</h2>\n", title);
  page_pre(out, text);
  fputc('\n', out);
}

static void print_page(FILE *out, const void *what) {
  const page *report = what;
  char *text = NULL, model[HU_ACCUM_TEXT_MAX];
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to) id_print_text(to, report->search, report->result);
  if (to) fclose(to);
  page_open(out, "A black box identified");
  fputs("<h1>A black box of sums of products</h1>\n<dl class=\"cards\">", out);
  page_card(out, "verdict", "%s", id_verdict_word(report->result));
  page_card(out, "questions", "%llu", (unsigned long long)report->result->questions);
  page_card(out, "verified on", "%llu", (unsigned long long)report->result->verified);
  fputs("</dl>\n", out);
  if (report->result->verdict == ID_FOUND)
    put_text(out, "Model", id_model_text(report->search, &report->result->model, model));
  if (report->result->verdict == ID_FOUND && id_is_wide(&report->search->space)) put_text(out, "Sums", id_wide_words);
  fputs("<h2>Order</h2>\n", out);
  put_tree(out, &report->result->tree);
  if (report->result->verdict == ID_FOUND) put_parameters(out, report);
  if (report->result->verdict == ID_FOUND) put_others(out, report);
  put_text(out, "In words", text ? text : "");
  put_text(out, "Steps of the search", report->log);
  page_close(out, "");
  free(text);
}

int id_write_page(const char *path, const id_search *search, const id_result *result, const char *log) {
  page report = {search, result, log};
  return cli_text_write(path, print_page, &report);
}
