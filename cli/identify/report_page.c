/* SPDX-License-Identifier: MIT */
/* The report as a page: a picture of the tree, the parameters, the steps of the search. */
#include <stdlib.h>

#include "cli/base/io.h"
#include "cli/draw/page.h"
#include "cli/identify/report.h"

enum { LEAF_WIDTH = 26, LEVEL_HEIGHT = 34, MARGIN = 24, WIDTH_LEAST = 360 };

/* ---- the tree ---- */

static int depth_of(const id_tree *t, int i) {
  int most = 0;
  for (int child = t->node[i].first; child >= 0; child = t->node[child].next) {
    int depth = 1 + depth_of(t, child);
    if (depth > most) most = depth;
  }
  return most;
}

/* Draws node i below `y`; leaves take places from left to right. Returns the node's own x. */
static double draw_node(svg *s, const id_tree *t, int i, double y, double *place) {
  const id_node *x = &t->node[i];
  char text[16];
  if (x->leaf >= 0) {
    double at = *place;
    *place += LEAF_WIDTH;
    snprintf(text, sizeof text, x->leaf == t->n ? "C" : "%d", x->leaf);
    svg_text(s, at, y + 4, 12, SVG_MIDDLE, "var(--ink)", "", text);
    return at;
  }
  double first = 0, last = 0, below = y + LEVEL_HEIGHT, xs[512];
  int count = 0;
  for (int child = x->first; child >= 0; child = t->node[child].next) {
    last = draw_node(s, t, child, below, place);
    if (count < 512) xs[count++] = last;
    if (child == x->first) first = last;
  }
  double at = (first + last) / 2;
  int many = count > 2;
  for (int j = 0; j < count; j++) svg_line(s, at, y + 5, xs[j], below - 9, many ? "var(--c1)" : "var(--rule)", 1.2);
  svg_rect(s, at - (many ? 12 : 5), y - 5, many ? 24 : 10, 10, many ? "var(--c1)" : "var(--soft)");
  return at;
}

static void put_tree(FILE *out, const id_tree *t) {
  svg s;
  if (t->root < 0) {
    fputs("<p>Masking did not show the order of this sum.</p>\n", out);
    return;
  }
  int leaves = t->node[t->root].leaves, width = 2 * MARGIN + leaves * LEAF_WIDTH;
  int height = 2 * MARGIN + depth_of(t, t->root) * LEVEL_HEIGHT;
  double place = MARGIN + LEAF_WIDTH / 2.0;
  if (width < WIDTH_LEAST) width = WIDTH_LEAST;
  fprintf(out, "<div style=\"max-width:%dpx\">\n", 2 * width);
  page_begin_drawing(&s, out, "tree", width, height, "Order of the sum",
                     "A small square adds two terms; a wide one adds all of its terms at once. C is the accumulator.");
  draw_node(&s, t, t->root, MARGIN, &place);
  page_end_drawing(&s);
  fputs("</div>\n", out);
}

/* ---- the rest ---- */

typedef struct page {
  const id_search *s;
  const id_result *z;
  const char *log;
} page;

static void put_question(FILE *out, const id_vectors *v) {
  char *text = NULL;
  size_t size = 0;
  if (!v->count) {
    page_cell(out, "question", "");
    return;
  }
  FILE *to = open_memstream(&text, &size);
  if (to) id_vectors_print(to, v, 0);
  if (to) fclose(to);
  fputs("<td data-head=\"question\"><code>", out);
  svg_escaped(out, text ? text : "");
  fputs("</code></td>", out);
  free(text);
}

static void put_answer(FILE *out, const char *head, const id_shape *shape, uint64_t d) {
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to) id_print_answer(to, shape, d);
  if (to) fclose(to);
  page_cell(out, head, text ? text : "");
  free(text);
}

static void put_head(FILE *out, const char *title, const char *const heads[]) {
  fprintf(out, "<h2>%s</h2>\n<div class=\"wide\"><table class=\"words\"><thead><tr>", title);
  for (; *heads; heads++) fprintf(out, "<th scope=\"col\">%s</th>", *heads);
  fputs("</tr></thead><tbody>\n", out);
}

static void put_parameters(FILE *out, const page *p) {
  static const char *const words[] = {"decided", "partly", "not seen"};
  static const char *const heads[] = {"key", "value", "meaning", "verdict", "question (A B C)", "rules out", NULL};
  put_head(out, "Parameters", heads);
  for (int i = 0; i < p->z->decisions.count; i++) {
    const id_decision *d = &p->z->decisions.of[i];
    char value[64];
    fputs("<tr>", out);
    page_cell(out, "key", id_axis_key(d->axis));
    id_axis_text(&p->s->space, d->axis, &p->z->model, d->value, value, sizeof value);
    page_cell(out, "value", value);
    page_cell(out, "meaning", id_axis_meaning(d->axis));
    page_cell(out, "verdict", words[d->verdict]);
    put_question(out, &d->evidence);
    id_axis_text(&p->s->space, d->axis, &p->z->model, d->nearest, value, sizeof value);
    page_cell(out, "rules out", d->evidence.count ? value : "");
    fputs("</tr>\n", out);
  }
  fputs("</tbody></table></div>\n", out);
}

static void put_others(FILE *out, const page *p) {
  static const char *const heads[] = {"preset", "question (A B C)", "the box gives", "the preset gives", NULL};
  const id_shape *shape = &p->s->box->shape;
  if (!p->z->names.other_count) return;
  put_head(out, "Other presets of these formats", heads);
  for (int i = 0; i < p->z->names.other_count; i++) {
    const id_other *other = &p->z->names.others[i];
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
  const page *p = what;
  char *text = NULL, model[HU_ACCUM_TEXT_MAX];
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  if (to) id_print_text(to, p->s, p->z);
  if (to) fclose(to);
  page_open(out, "A black box identified");
  fputs("<h1>A black box of sums of products</h1>\n<dl class=\"cards\">", out);
  page_card(out, "verdict", "%s", id_verdict_word(p->z));
  page_card(out, "questions", "%llu", (unsigned long long)p->z->questions);
  page_card(out, "verified on", "%llu", (unsigned long long)p->z->verified);
  fputs("</dl>\n", out);
  if (p->z->verdict == ID_FOUND) put_text(out, "Model", id_model_text(p->s, &p->z->model, model));
  if (p->z->verdict == ID_FOUND && id_is_wide(&p->s->space)) put_text(out, "Sums", id_wide_words);
  fputs("<h2>Order</h2>\n", out);
  put_tree(out, &p->z->tree);
  if (p->z->verdict == ID_FOUND) put_parameters(out, p);
  if (p->z->verdict == ID_FOUND) put_others(out, p);
  put_text(out, "In words", text ? text : "");
  put_text(out, "Steps of the search", p->log);
  page_close(out, "");
  free(text);
}

int id_write_page(const char *path, const id_search *s, const id_result *z, const char *log) {
  page p = {s, z, log};
  return cli_text_write(path, print_page, &p);
}
