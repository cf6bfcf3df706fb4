/* SPDX-License-Identifier: MIT */
/* Reads the list of a campaign's items, and the hashes of their sources. */
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
  *z = (campaign_item){.line = line, .sources = "-"};
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
  if (status == CLI_OK && job_names_find(&list->names, z->name) != JOB_NOWHERE)
    status = cli_lines_fail(lines, "an item of this name stands above");
  if (status == CLI_OK && !job_names_put(&list->names, z->name, list->count)) status = cli_fail(NULL, "out of memory");
  if (status != CLI_OK) {
    free(z->argument);
    free(own);
    return status;
  }
  list->count++;
  return CLI_OK;
}

static uint64_t digest_line(uint64_t digest, const char *line) {
  do {
    digest = (digest ^ (uint8_t)*line) * 0x100000001B3u;
  } while (*line++);
  return digest;
}

int campaign_list_read(campaign_list *list, const char *path) {
  cli_lines lines;
  size_t room = 0;
  int status = cli_lines_open(&lines, path), more;
  memset(list, 0, sizeof *list);
  list->digest = 0xCBF29CE484222325u;
  if (status != CLI_OK) return status;
  while (status == CLI_OK && (more = cli_lines_next(&lines)) != 0) {
    if (more < 0) {
      status = -more;
    } else if (lines.line[0] && lines.line[0] != '#') {
      list->digest = digest_line(list->digest, lines.line);
      status = add(list, &lines, &room);
    }
  }
  cli_lines_close(&lines);
  if (status == CLI_OK && list->count == 0) status = cli_fail(path, "no items");
  return status;
}

void campaign_list_free(campaign_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    free(list->item[i].argument);
    free(list->item[i].line);
  }
  free(list->item);
  job_names_free(&list->names);
}

static int read_source(campaign_list *list, cli_lines *lines) {
  uint64_t digits;
  char *at = lines->line, *name = next_word(&at, " \t"), *hash = next_word(&at, " \t");
  if (!name) return CLI_OK;
  if (!hash || next_word(&at, " \t") || !hex_parse(&digits, hash, 16))
    return cli_lines_fail(lines, "a line is NAME and 16 hexadecimal digits");
  size_t place = job_names_find(&list->names, name);
  if (place != JOB_NOWHERE) memcpy(list->item[place].sources, hash, 17);
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
