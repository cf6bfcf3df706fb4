/* SPDX-License-Identifier: MIT */
/* Reads the list of a campaign's items, and the hashes of their sources. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/campaign/campaign.h"

enum { NAME_MAX_LENGTH = 200 };

/* The next word of a line, which it ends; NULL: there is none. */
static char *next_word(char **at, const char *marks) {
  char *word = *at + strspn(*at, marks);
  if (*word == 0) return NULL;
  *at = word + strcspn(word, marks);
  if (**at) *(*at)++ = 0;
  return word;
}

static int is_name(const char *name) {
  size_t n = strlen(name);
  return n <= NAME_MAX_LENGTH &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,()+=") == n;
}

static int read_item(campaign_item *z, char *line, const cli_lines *lines) {
  const char *marks = strchr(line, '\t') ? "\t" : " ";
  char *at = line, *word;
  *z = (campaign_item){.line = line, .number = lines->number, .sources = "-"};
  z->name = next_word(&at, marks);
  z->kind = next_word(&at, marks);
  z->subjects = next_word(&at, marks);
  if (!z->subjects)
    return cli_lines_fail(lines, "an item has a name, a kind and subjects: NAME KIND SUBJECTS ARGUMENT...");
  if (!is_name(z->name)) return cli_lines_fail(lines, "the item's name has more than 200 characters, or strange ones");
  z->argument = calloc(strlen(at) + 2, sizeof *z->argument);
  if (!z->argument) return cli_fail(NULL, "out of memory");
  while ((word = next_word(&at, marks))) z->argument[z->arguments++] = word;
  return campaign_item_check(z, lines->name, lines->number);
}

static int add(campaign_list *list, cli_lines *lines, size_t *room) {
  if (list->count == *room) {
    size_t more = *room ? 2 * *room : 64;
    campaign_item *item = realloc(list->item, more * sizeof *item);
    if (!item) return cli_fail(NULL, "out of memory");
    list->item = item;
    *room = more;
  }
  campaign_item *z = &list->item[list->count];
  char *own = strdup(lines->line);
  if (!own) return cli_fail(NULL, "out of memory");
  int status = read_item(z, own, lines);
  if (status != CLI_OK) {
    free(z->argument);
    free(own);
    return status;
  }
  list->count++;
  return CLI_OK;
}

static int by_name(const void *x, const void *y) {
  return strcmp(((const campaign_item *)x)->name, ((const campaign_item *)y)->name);
}

/* Makes items known by their names, which no two have. */
static int name_items(campaign_list *list, const char *path) {
  for (size_t i = 0; i < list->count; i++) {
    campaign_item *item = &list->item[i], **known = tsearch(item, &list->tree, by_name);
    if (!known) return cli_fail(NULL, "out of memory");
    if (*known != item) return cli_fail(NULL, "%s:%lu: an item of this name stands above", path, item->number);
  }
  return CLI_OK;
}

int campaign_list_read(campaign_list *list, const char *path) {
  cli_lines lines;
  size_t room = 0;
  int status = cli_lines_open(&lines, path), more;
  memset(list, 0, sizeof *list);
  list->digest = JOB_DIGEST_START;
  if (status != CLI_OK) return status;
  while (status == CLI_OK && (more = cli_lines_next(&lines)) != 0) {
    if (more < 0) {
      status = -more;
    } else if (lines.line[0] && lines.line[0] != '#') {
      list->digest = job_digest(lines.line, list->digest);
      status = add(list, &lines, &room);
    }
  }
  cli_lines_close(&lines);
  if (status == CLI_OK && list->count == 0) status = cli_fail(path, "no items");
  return status == CLI_OK ? name_items(list, path) : status;
}

void campaign_list_free(campaign_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    (void)tdelete(&list->item[i], &list->tree, by_name);
    free(list->item[i].argument);
    free(list->item[i].line);
  }
  free(list->item);
}

static int read_source(campaign_list *list, cli_lines *lines) {
  uint64_t digits;
  char *at = lines->line, *name = next_word(&at, " \t"), *hash = next_word(&at, " \t");
  if (!name) return CLI_OK;
  if (!hash || next_word(&at, " \t") || !hex_parse(&digits, hash, 16))
    return cli_lines_fail(lines, "a line is NAME and 16 hexadecimal digits");
  const campaign_item key = {.name = name};
  campaign_item **found = tfind(&key, &list->tree, by_name);
  if (found) memcpy((*found)->sources, hash, 17);
  return CLI_OK;
}

int campaign_sources_read(campaign_list *list, const char *path) {
  cli_lines lines;
  int status = cli_lines_open(&lines, path), more;
  if (status != CLI_OK) return status;
  while (status == CLI_OK && (more = cli_lines_next(&lines)) != 0)
    status = more < 0 ? -more : read_source(list, &lines);
  cli_lines_close(&lines);
  return status;
}

void campaign_item_sources(const campaign_item *item, char text[JOB_SOURCES_MAX]) {
  uint64_t line = job_digest(item->subjects, job_digest(item->kind, job_digest(item->name, JOB_DIGEST_START)));
  for (int i = 0; i < item->arguments; i++) line = job_digest(item->argument[i], line);
  if (strcmp(item->sources, "-"))
    snprintf(text, JOB_SOURCES_MAX, "%s", item->sources);
  else
    snprintf(text, JOB_SOURCES_MAX, "line:%016llx", (unsigned long long)line);
}
