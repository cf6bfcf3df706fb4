/* SPDX-License-Identifier: MIT */
/* ONNX models as checkpoints: initializers and constants are the tensors; those that a DequantizeLinear or a
 * MatMulNBits reads are values, by the numbers beside them. Field numbers: onnx.proto of ONNX 1.22; MatMulNBits:
 * ONNX Runtime's contributed operators. See layouts.h. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layouts/onnx.h"

enum { DEPTH_MAX = 8, INPUTS = 4 };

typedef struct reader {
  hu_checkpoint *x;
  size_t place;    /* of the model among the checkpoint's files */
  json_t *scales;  /* outputs of DequantizeLinear: {"codes", "scale"} */
  json_t *pending; /* links whose scale is such an output, perhaps */
} reader;

static int cut(const reader *r) { return onnx_wrong(r->x, r->place, NULL, "a message is cut off or none"); }

static void copy_text(char z[HUI_NAME_MAX], const hui_field *field) {
  size_t n = field->size < HUI_NAME_MAX - 1 ? field->size : HUI_NAME_MAX - 1;
  if (n) memcpy(z, field->bytes, n);
  z[n] = 0;
}

/* ---- tensors ---- */

static int add_side(onnx_tensor *z, uint64_t side) {
  if (z->dims == ST_DIMS_MAX || side > INT64_MAX) return 0;
  z->shape[z->dims++] = (size_t)side;
  return 1;
}

static int take_sides(onnx_tensor *z, const hui_field *field) {
  if (field->type == 0) return add_side(z, field->value);
  hui_wire rest = {field->bytes, field->bytes + field->size};
  uint64_t side;
  while (rest.at < rest.end)
    if (!hui_wire_varint(&rest, &side) || !add_side(z, side)) return 0;
  return 1;
}

/* Takes an entry of external_data: location, offset or length, with a value as text. */
static int take_external(onnx_tensor *z, const hui_field *field) {
  hui_wire rest = {field->bytes, field->bytes + field->size};
  hui_field one, key = {0}, value = {0};
  char text[HUI_NAME_MAX], *end;
  int good = 1;
  while (hui_wire_next(&rest, &one, &good)) {
    if (one.number == 1) key = one;
    if (one.number == 2) value = one;
  }
  if (!good || value.size >= HUI_NAME_MAX) return 0;
  copy_text(text, &value);
  if (strlen(text) != value.size) return 0;
  if (hui_wire_is(&key, "location")) memcpy(z->location, text, sizeof text);
  unsigned long long number = strtoull(text, &end, 10);
  int whole = text[0] >= '0' && text[0] <= '9' && !*end;
  if (hui_wire_is(&key, "offset")) z->offset = number;
  if (hui_wire_is(&key, "length")) z->length = number, z->has_length = 1;
  return whole || (!hui_wire_is(&key, "offset") && !hui_wire_is(&key, "length"));
}

static int take_tensor_field(onnx_tensor *z, const hui_field *field) {
  switch (field->number) {
    case 1: return take_sides(z, field);
    case 2: z->type = field->value; return 1;
    case 8: copy_text(z->name, field); return field->size < HUI_NAME_MAX && strlen(z->name) == field->size;
    case 9:
      z->raw = field->bytes;
      z->raw_size = field->size;
      z->has_raw = 1;
      return field->type == 2;
    case 13: return field->type == 2 && take_external(z, field);
    case 14: z->external = field->value == 1; return 1;
    default: return 1;
  }
}

static int read_tensor(reader *r, hui_wire message, const char *name) {
  onnx_tensor *tensor = calloc(1, sizeof *tensor);
  hui_field field;
  int good = 1;
  if (!tensor) return hui_wrong(r->x, "%s: out of memory", r->x->path);
  tensor->message = message;
  while (good && hui_wire_next(&message, &field, &good)) good = good && take_tensor_field(tensor, &field);
  if (name) snprintf(tensor->name, sizeof tensor->name, "%s", name);
  tensor->count = 1;
  int fits = 1;
  for (uint32_t i = 0; i < tensor->dims; i++)
    fits = fits && !__builtin_mul_overflow(tensor->count, tensor->shape[i], &tensor->count);
  good = !good   ? cut(r)
         : !fits ? onnx_wrong(r->x, r->place, tensor->name, "is too large")
                 : onnx_add(r->x, r->place, tensor);
  free(tensor);
  return good;
}

/* ---- nodes ---- */

typedef struct node {
  char inputs[INPUTS][HUI_NAME_MAX], output[HUI_NAME_MAX];
  char op[64];
  size_t count;
  json_t *numbers; /* attributes that are integers */
  hui_wire value;  /* of a Constant */
} node;

static int read_graph(reader *r, hui_wire message, int depth);

static int read_attribute(reader *r, node *z, hui_wire message, int depth) {
  hui_field field;
  char name[HUI_NAME_MAX] = "";
  int64_t number = 0;
  int good = 1, has_number = 0;
  hui_wire tensor = {NULL, NULL};
  while (hui_wire_next(&message, &field, &good)) {
    hui_wire inner = {field.bytes, field.bytes + field.size};
    if (field.number == 1) copy_text(name, &field);
    if (field.number == 3 && field.type == 0) number = (int64_t)field.value, has_number = 1;
    if (field.number == 5 && field.type == 2) tensor = inner;
    if ((field.number == 6 || field.number == 11) && field.type == 2 && !read_graph(r, inner, depth + 1)) return 0;
  }
  if (!good) return cut(r);
  if (has_number) json_object_set_new(z->numbers, name, json_integer(number));
  if (!strcmp(name, "value")) z->value = tensor;
  return 1;
}

static json_int_t attribute(const node *x, const char *name, json_int_t otherwise) {
  json_t *value = json_object_get(x->numbers, name);
  return value ? json_integer_value(value) : otherwise;
}

static void set_text(json_t *link, const char *key, const char *text) {
  if (*text) json_object_set_new(link, key, json_string(text));
}

/* Notes what a node makes of its codes; which of its inputs the model has is seen when all tensors are there. */
static void add_link(reader *r, const node *x) {
  int nbits = !strcmp(x->op, "MatMulNBits");
  const char *codes = x->inputs[nbits], *scale = x->inputs[nbits + 1], *zero = x->inputs[nbits + 2];
  if (!*codes || !*scale) return;
  json_t *link = json_object(), *same = json_object_get(r->pending, codes);
  set_text(link, "scale", scale);
  set_text(link, "zero", zero);
  json_object_set_new(link, "axis", json_integer(attribute(x, "axis", 1)));
  json_object_set_new(link, "block", json_integer(attribute(x, "block_size", 0)));
  if (nbits) {
    json_object_set_new(link, "n", json_integer(attribute(x, "N", 0)));
    json_object_set_new(link, "k", json_integer(attribute(x, "K", 0)));
    json_object_set_new(link, "bits", json_integer(attribute(x, "bits", 4)));
  }
  if (same && !json_equal(same, link)) json_object_set_new(link, "other", json_true());
  json_object_set_new(r->pending, codes, link);
  if (!nbits && *x->output)
    json_object_set_new(r->scales, x->output, json_pack("{s:s,s:s}", "codes", codes, "scale", scale));
}

static int take_node(reader *r, node *z, hui_wire message, int depth) {
  hui_field field;
  int good = 1;
  while (hui_wire_next(&message, &field, &good)) {
    hui_wire inner = {field.bytes, field.bytes + field.size};
    if (field.type != 2) continue;
    if (field.number == 1 && z->count < INPUTS) copy_text(z->inputs[z->count++], &field);
    if (field.number == 2 && !*z->output) copy_text(z->output, &field);
    if (field.number == 4)
      snprintf(z->op, sizeof z->op, "%.*s", (int)(field.size < 63 ? field.size : 63), (const char *)field.bytes);
    if (field.number == 5 && !read_attribute(r, z, inner, depth)) return 0;
  }
  return good || cut(r);
}

static int read_node(reader *r, hui_wire message, int depth) {
  node *x = calloc(1, sizeof *x);
  if (!x || !(x->numbers = json_object())) {
    free(x);
    return hui_wrong(r->x, "%s: out of memory", r->x->path);
  }
  int good = take_node(r, x, message, depth);
  if (good && !strcmp(x->op, "Constant") && x->value.at) good = read_tensor(r, x->value, x->output);
  if (good && (!strcmp(x->op, "DequantizeLinear") || !strcmp(x->op, "MatMulNBits"))) add_link(r, x);
  json_decref(x->numbers);
  free(x);
  return good;
}

static int read_graph(reader *r, hui_wire message, int depth) {
  hui_field field;
  int good = 1, whole = 1;
  if (depth > DEPTH_MAX) return onnx_wrong(r->x, r->place, NULL, "graphs in graphs, too deep");
  while (good && hui_wire_next(&message, &field, &whole)) {
    hui_wire inner = {field.bytes, field.bytes + field.size};
    if (field.type != 2) continue;
    if (field.number == 1) good = read_node(r, inner, depth);
    if (field.number == 5) good = read_tensor(r, inner, NULL);
    if (field.number == 15) good = onnx_wrong(r->x, r->place, NULL, "a sparse_initializer is not read");
  }
  return good && (whole || cut(r));
}

/* ---- scales of scales ---- */

/* Looks up the scales that another DequantizeLinear makes: they have a scale of their own. */
static void resolve(reader *r) {
  const char *codes;
  json_t *link, *inner = json_object(), *one;
  json_object_foreach(r->pending, codes, link) {
    one = json_object_get(r->scales, json_string_value(json_object_get(link, "scale")));
    if (!one) continue;
    json_object_set(inner, json_string_value(json_object_get(one, "codes")), json_true());
    json_object_set(link, "second", json_object_get(one, "scale"));
    json_object_set(link, "scale", json_object_get(one, "codes"));
  }
  json_object_foreach(inner, codes, one) json_object_del(r->pending, codes);
  json_decref(inner);
}

int hui_onnx_open(hu_checkpoint *x, hui_shard *shard) {
  reader r = {x, (size_t)(shard - x->shards), json_object(), json_object()};
  hui_wire message = {shard->bytes.data, shard->bytes.data + shard->bytes.size};
  hui_field field;
  int good = r.scales && r.pending, whole = 1, graphs = 0;
  while (good && hui_wire_next(&message, &field, &whole)) {
    hui_wire inner = {field.bytes, field.bytes + field.size};
    if (field.number == 7 && field.type == 2) good = read_graph(&r, inner, 0), graphs++;
  }
  if (good && !whole) good = cut(&r);
  if (good && !graphs) good = onnx_wrong(x, r.place, NULL, "it has no graph");
  if (good) resolve(&r);
  if (good && !x->links) x->links = json_object();
  if (good) good = !json_object_update(x->links, r.pending);
  json_decref(r.scales);
  json_decref(r.pending);
  return good;
}
