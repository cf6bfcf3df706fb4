/* SPDX-License-Identifier: MIT */
/* The reader of configuration files over any bytes: what it accepts has keys of a section and a name, each once, text
 * without control characters, and is read again as the same where each entry is written on lines of its own. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "cli/base/config.h"

static void check_entry(const config *c, size_t i) {
  const config_entry *e = &c->list[i];
  const char *dot = strchr(e->key + 1, '.'); /* a section may be named so */
  FUZZ_CHECK(dot && dot[1] && e->value && e->line && !e->used);
  FUZZ_CHECK(*e->value != ';' && *e->value != ' ');
  for (const char *p = e->value; *p; p++) FUZZ_CHECK((unsigned char)*p >= 0x20 || *p == '\t');
  for (size_t j = 0; j < i; j++) FUZZ_CHECK(strcmp(c->list[j].key, e->key) != 0 && c->list[j].line < e->line);
}

/* Sections with a dot in their names do not tell where they end, and so are left out. */
static int plain(const char *key) {
  return strchr(key, '.') == strrchr(key, '.') && key[strcspn(key, "[]=:;# \t")] == 0 && strlen(key) < 40;
}

static void check_again(const config_entry *e) {
  char text[512], error[CONFIG_ERROR_MAX];
  unsigned line;
  config again;
  const char *dot = strchr(e->key + 1, '.');
  if (!plain(e->key) || strlen(e->value) > 100) return;
  int n = snprintf(text, sizeof text, "[%.*s]\n%s = %s\n", (int)(dot - e->key), e->key, dot + 1, e->value);
  FUZZ_CHECK(config_parse(&again, text, (size_t)n, &line, error) && again.count == 1);
  FUZZ_CHECK(!strcmp(again.list[0].key, e->key) && !strcmp(again.list[0].value, e->value));
  FUZZ_CHECK(config_find(&again, e->key) == again.list[0].value && again.list[0].used);
  config_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char error[CONFIG_ERROR_MAX], *text = malloc(size ? size : 1);
  unsigned line = 0;
  config c;
  FUZZ_CHECK(text != NULL);
  if (size) memcpy(text, data, size);
  memset(error, 'x', sizeof error);
  if (config_parse(&c, text, size, &line, error)) {
    for (size_t i = 0; i < c.count; i++) check_entry(&c, i);
    for (size_t i = 0; i < c.count; i++) check_again(&c.list[i]);
  } else {
    FUZZ_CHECK(memchr(error, 0, sizeof error) != NULL && *error && !c.list && !c.count);
    for (const char *p = error; *p; p++) FUZZ_CHECK((unsigned char)*p >= 0x20 || *p == '\t');
  }
  config_free(&c);
  free(text);
  return 0;
}
