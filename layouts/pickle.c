/* SPDX-License-Identifier: MIT */
/* Reading pickles without executing them: see pickle.h. Opcodes: Python's Lib/pickletools.py. */
#include "layouts/pickle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = UINT32_MAX };

typedef struct machine {
  hui_pickle *made;
  const uint8_t *bytes;
  size_t at, size;
  uint32_t *stack, *memo;
  size_t depth, stack_capacity, memo_count, memo_capacity;
  char *error;
} machine;

__attribute__((format(printf, 2, 3))) static int wrong(machine *m, const char *format, ...) {
  va_list args;
  int n = snprintf(m->error, HUI_PICKLE_ERROR, "pickle: byte %zu: ", m->at);
  va_start(args, format);
  vsnprintf(m->error + n, HUI_PICKLE_ERROR - (size_t)n, format, args);
  va_end(args);
  return 0;
}

/* Makes space for one more of a list. */
static int grow(void *list, size_t *capacity, size_t count, size_t each) {
  if (count < *capacity) return 1;
  size_t more = *capacity ? 2 * *capacity : 8;
  void *z = realloc(*(void **)list, more * each);
  if (!z) return 0;
  *(void **)list = z;
  *capacity = more;
  return 1;
}

/* ---- the stack ---- */

static int push(machine *m, uint32_t place) {
  if (!grow(&m->stack, &m->stack_capacity, m->depth, sizeof *m->stack)) return wrong(m, "out of memory");
  m->stack[m->depth++] = place;
  return 1;
}

/* Adds a value and pushes it; its place is m->made->count - 1. */
static int push_new(machine *m, hui_value value) {
  hui_pickle *made = m->made;
  if (made->count >= MARK - 1 || !grow(&made->values, &made->capacity, made->count, sizeof *made->values))
    return wrong(m, "out of memory");
  made->values[made->count++] = value;
  return push(m, (uint32_t)made->count - 1);
}

static int pop(machine *m, uint32_t *z) {
  if (!m->depth || m->stack[m->depth - 1] == MARK) return wrong(m, "the stack is empty");
  *z = m->stack[--m->depth];
  return 1;
}

static int append(machine *m, hui_value *value, uint32_t place) {
  if (!grow(&value->items, &value->capacity, value->count, sizeof *value->items)) return wrong(m, "out of memory");
  value->items[value->count++] = place;
  return 1;
}

/* Returns where the values behind the last mark begin; 0: there is no mark. */
static size_t behind_mark(const machine *m) {
  size_t i = m->depth;
  while (i && m->stack[i - 1] != MARK) i--;
  return i;
}

/* Appends what is behind the last mark to the value below it, of a kind, and takes it off the stack. */
static int append_marked(machine *m, int kind) {
  size_t from = behind_mark(m);
  if (from < 2 || m->stack[from - 2] == MARK) return wrong(m, "no mark, or nothing below it");
  hui_value *value = &m->made->values[m->stack[from - 2]];
  if (value->kind != kind || (kind == HUI_DICT && (m->depth - from) % 2))
    return wrong(m, "appends to another kind of value");
  for (size_t i = from; i < m->depth; i++)
    if (!append(m, value, m->stack[i])) return 0;
  m->depth = from - 1;
  return 1;
}

/* Appends the last n values to the one below them. */
static int append_last(machine *m, int kind, size_t n) {
  if (m->depth < n + 1) return wrong(m, "the stack is empty");
  for (size_t i = m->depth - n - 1; i < m->depth; i++)
    if (m->stack[i] == MARK) return wrong(m, "the stack is empty");
  hui_value *value = &m->made->values[m->stack[m->depth - n - 1]];
  if (value->kind != kind) return wrong(m, "appends to another kind of value");
  for (size_t i = m->depth - n; i < m->depth; i++)
    if (!append(m, value, m->stack[i])) return 0;
  m->depth -= n;
  return 1;
}

/* Makes a value of the last n; with a mark, of those behind it. */
static int make(machine *m, int kind, size_t n, int marked) {
  hui_value value = {.kind = kind};
  size_t from = marked ? behind_mark(m) : m->depth - n;
  if ((marked && !from) || (!marked && n > m->depth)) return wrong(m, "the stack is empty, or there is no mark");
  int good = 1;
  for (size_t i = from; i < m->depth && good; i++)
    good = m->stack[i] == MARK ? wrong(m, "the stack is empty") : append(m, &value, m->stack[i]);
  m->depth = from - (size_t)marked;
  if (good && push_new(m, value)) return 1;
  free(value.items);
  return 0;
}

/* ---- arguments of opcodes ---- */

static int take(machine *m, uint64_t *z, size_t bytes) {
  *z = 0;
  if (bytes > m->size - m->at) return wrong(m, "is cut off");
  for (size_t i = 0; i < bytes; i++) *z |= (uint64_t)m->bytes[m->at + i] << 8 * i;
  m->at += bytes;
  return 1;
}

static int take_text(machine *m, const char **z, size_t *length, size_t bytes) {
  uint64_t n;
  if (!take(m, &n, bytes)) return 0;
  if (n > m->size - m->at) return wrong(m, "a text is cut off");
  *z = (const char *)m->bytes + m->at;
  *length = (size_t)n;
  m->at += (size_t)n;
  return 1;
}

static int take_line(machine *m, const char **z, size_t *length) {
  const uint8_t *end = memchr(m->bytes + m->at, '\n', m->size - m->at);
  if (!end) return wrong(m, "a line is cut off");
  *z = (const char *)m->bytes + m->at;
  *length = (size_t)(end - m->bytes) - m->at;
  m->at += *length + 1;
  return 1;
}

static int push_number(machine *m, size_t bytes, int sign) {
  uint64_t x;
  if (!take(m, &x, bytes)) return 0;
  if (sign && bytes < 8 && bytes && x >> (8 * bytes - 1)) x |= UINT64_MAX << 8 * bytes;
  return push_new(m, (hui_value){.kind = HUI_INT, .number = (int64_t)x});
}

/* An integer of any length; beyond 64 bits it is no size. */
static int push_long(machine *m) {
  uint64_t n;
  if (!take(m, &n, 1)) return 0;
  if (n <= 8) return push_number(m, (size_t)n, 1);
  if (n > m->size - m->at) return wrong(m, "is cut off");
  m->at += (size_t)n;
  return push_new(m, (hui_value){.kind = HUI_NONE});
}

static int push_text(machine *m, size_t bytes, int kind) {
  hui_value value = {.kind = kind};
  return take_text(m, &value.text, &value.length, bytes) && push_new(m, value);
}

static int push_global(machine *m) {
  hui_value value = {.kind = HUI_GLOBAL};
  return take_line(m, &value.module, &value.module_length) && take_line(m, &value.text, &value.length) &&
         push_new(m, value);
}

static int stack_global(machine *m) {
  uint32_t name = 0, module = 0;
  if (!pop(m, &name) || !pop(m, &module)) return 0;
  const hui_value *a = &m->made->values[module], *b = &m->made->values[name];
  if (a->kind != HUI_TEXT || b->kind != HUI_TEXT) return wrong(m, "a global without a name");
  return push_new(
      m, (hui_value){
             .kind = HUI_GLOBAL, .text = b->text, .length = b->length, .module = a->text, .module_length = a->length});
}

/* ---- memo ---- */

static int put(machine *m, uint64_t place) {
  if (!m->depth || m->stack[m->depth - 1] == MARK) return wrong(m, "the stack is empty");
  if (place > m->size) return wrong(m, "a place of the memo beyond all opcodes");
  while (m->memo_count <= place) {
    if (!grow(&m->memo, &m->memo_capacity, m->memo_count, sizeof *m->memo)) return wrong(m, "out of memory");
    m->memo[m->memo_count++] = MARK;
  }
  m->memo[place] = m->stack[m->depth - 1];
  return 1;
}

static int put_of(machine *m, size_t bytes) {
  uint64_t place;
  return take(m, &place, bytes) && put(m, place);
}

static int get_of(machine *m, size_t bytes) {
  uint64_t place;
  if (!take(m, &place, bytes)) return 0;
  if (place >= m->memo_count || m->memo[place] == MARK) return wrong(m, "a place of the memo that has nothing");
  return push(m, m->memo[place]);
}

/* ---- opcodes ---- */

static int skip(machine *m, size_t bytes) {
  uint64_t x;
  return take(m, &x, bytes);
}

/* BUILD gives attributes: of a dict, they are passed over; of a record, its arguments get them. */
static int build(machine *m) {
  uint32_t state = 0;
  if (!pop(m, &state)) return 0;
  if (!m->depth || m->stack[m->depth - 1] == MARK) return wrong(m, "the stack is empty");
  hui_value *value = &m->made->values[m->stack[m->depth - 1]];
  return value->kind == HUI_REDUCED ? append(m, value, state)
                                    : value->kind == HUI_DICT || wrong(m, "attributes of another kind of value");
}

/* Reduces what has to be so for a dict: a call of OrderedDict without arguments is one. */
static int reduce(machine *m) {
  if (!make(m, HUI_REDUCED, 2, 0)) return 0;
  hui_value *value = &m->made->values[m->stack[m->depth - 1]];
  if (!hui_is_global(hui_item(m->made, value, 0), "collections", "OrderedDict")) return 1;
  const hui_value *arguments = hui_item(m->made, value, 1);
  if (arguments->count) return wrong(m, "an OrderedDict with arguments is not read");
  value->kind = HUI_DICT;
  value->count = 0;
  return 1;
}

static int step(machine *m, uint8_t code) {
  switch (code) {
    case 0x80: return skip(m, 1); /* PROTO */
    case 0x95: return skip(m, 8); /* FRAME */
    case '(': return push(m, MARK);
    case '}': return push_new(m, (hui_value){.kind = HUI_DICT});
    case ']':
    case ')': return push_new(m, (hui_value){.kind = HUI_TUPLE});
    case 'N': return push_new(m, (hui_value){.kind = HUI_NONE});
    case 0x88: return push_new(m, (hui_value){.kind = HUI_INT, .number = 1});
    case 0x89: return push_new(m, (hui_value){.kind = HUI_INT});
    case 'J': return push_number(m, 4, 1);
    case 'K': return push_number(m, 1, 0);
    case 'M': return push_number(m, 2, 0);
    case 0x8A: return push_long(m);
    case 'G': return skip(m, 8) && push_new(m, (hui_value){.kind = HUI_NONE}); /* BINFLOAT */
    case 'X': return push_text(m, 4, HUI_TEXT);
    case 0x8C: return push_text(m, 1, HUI_TEXT);
    case 'B': return push_text(m, 4, HUI_NONE); /* bytes */
    case 'C': return push_text(m, 1, HUI_NONE);
    case 't': return make(m, HUI_TUPLE, 0, 1);
    case 0x85: return make(m, HUI_TUPLE, 1, 0);
    case 0x86: return make(m, HUI_TUPLE, 2, 0);
    case 0x87: return make(m, HUI_TUPLE, 3, 0);
    case 'a': return append_last(m, HUI_TUPLE, 1);
    case 'e': return append_marked(m, HUI_TUPLE);
    case 's': return append_last(m, HUI_DICT, 2);
    case 'u': return append_marked(m, HUI_DICT);
    case 'c': return push_global(m);
    case 0x93: return stack_global(m);
    case 'Q': return make(m, HUI_PERSISTENT, 1, 0);
    case 0x81: /* NEWOBJ */
    case 'R': return reduce(m);
    case 'b': return build(m);
    case 'q': return put_of(m, 1);
    case 'r': return put_of(m, 4);
    case 0x94: return put(m, m->memo_count);
    case 'h': return get_of(m, 1);
    case 'j': return get_of(m, 4);
    default: return wrong(m, "opcode 0x%02X is not read", code);
  }
}

static int run(machine *m) {
  while (m->at < m->size) {
    uint8_t code = m->bytes[m->at++];
    if (code == '.') {
      if (m->depth != 1 || m->stack[0] == MARK) return wrong(m, "ends with another number of values than 1");
      m->made->root = m->stack[0];
      return 1;
    }
    if (!step(m, code)) return 0;
  }
  return wrong(m, "is cut off");
}

int hui_pickle_read(hui_pickle *z, const uint8_t *bytes, size_t size, char error[HUI_PICKLE_ERROR]) {
  machine m = {.made = z, .bytes = bytes, .size = size, .error = error};
  *z = (hui_pickle){NULL, 0, 0, 0};
  int good = run(&m);
  free(m.stack);
  free(m.memo);
  if (!good) hui_pickle_free(z);
  return good;
}

void hui_pickle_free(hui_pickle *z) {
  for (size_t i = 0; i < z->count; i++) free(z->values[i].items);
  free(z->values);
  *z = (hui_pickle){NULL, 0, 0, 0};
}

const hui_value *hui_item(const hui_pickle *x, const hui_value *value, size_t i) {
  return value && i < value->count ? &x->values[value->items[i]] : NULL;
}

static int same(const char *text, size_t length, const char *word) {
  return strlen(word) == length && !memcmp(text, word, length);
}

int hui_is_text(const hui_value *value, const char *text) {
  return value && value->kind == HUI_TEXT && same(value->text, value->length, text);
}

int hui_is_global(const hui_value *value, const char *module, const char *name) {
  return value && value->kind == HUI_GLOBAL && same(value->module, value->module_length, module) &&
         same(value->text, value->length, name);
}
