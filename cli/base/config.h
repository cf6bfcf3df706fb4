/* SPDX-License-Identifier: MIT */
/* cli/base/config.h - the configuration file of a training run: sections of keys and values, read by libinih.
 *
 *   ; a comment; behind a value, too, after a blank
 *   [optimizer]
 *   rate = 0.05
 *   kahan = linear0.weight,
 *     linear1.weight        ; an indented line continues the value above it, nothing between them
 *
 * is the key "optimizer.rate" with the value "0.05", and so on. Text is UTF-8. Refused, with the line: what is neither
 * a [section] nor key = value, a key given twice, a key before any section, a line of more than CONFIG_LINE_MAX bytes,
 * control characters. */
#ifndef HALFULP_CLI_BASE_CONFIG_H
#define HALFULP_CLI_BASE_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "halfulp/train/trainer.h"

/* LINE_MAX: what fits libinih's own line of 200. */
enum { CONFIG_ERROR_MAX = 400, CONFIG_LINE_MAX = 196, CONFIG_SIZE_MAX = 1 << 20, CONFIG_KEYS_MAX = 1000 };

typedef struct config_entry {
  char *key; /* "section.key" */
  char *value;
  unsigned line; /* where it begins, from 1 */
  int used;      /* 1: config_find has seen it */
} config_entry;

/* All-zero: an empty file. */
typedef struct config {
  config_entry *list; /* in the order of the file */
  size_t count;
} config;

/* Reads a configuration from bytes. Returns 1 and *file (to be freed), or 0, *line (0: none) and a sentence in
 * error. */
int config_parse(config *file, const char *text, size_t size, unsigned *line, char error[CONFIG_ERROR_MAX]);
void config_free(config *file);
/* Returns 1 if the text is UTF-8 without control characters except tabs. */
int config_is_text(const char *text, size_t size);
/* Reads a file ("-": standard input). Returns 0, or an exit code after an error line. */
int config_read(config *file, const char *path);
/* Returns the value of a key that is not the trainer's, or NULL. config_apply leaves it out then. */
const char *config_find(config *file, const char *key);

/* ---- and the trainer (cli/train/config_apply.c): 0, or an exit code after an error line that names file, line,
 * section and key, with a likely name for an unknown one ---- */

/* Sets all entries that config_find has not seen. "precision.system" comes first wherever it stands, so that the file's
 * other keys of that section change what it sets; the others follow in the order of the file. */
int config_apply(hu_trainer *trainer, const config *file, const char *path);
/* Sets "section.key=value" of an option --set, after config_apply and in the order of the options. */
int config_set(hu_trainer *trainer, const char *text);
/* Prints the error line of a value that a key does not take: `why`, as hu_trainer_set says it; more where the value is
 * an accumulation model, a name of several formats, or one of something else. Returns an exit code. */
int config_refuse(const char *where, const char *key, const char *value, const char *why);
/* Prints all keys with their values in force, as a file that config_read reads as the same. */
void config_print(FILE *out, const hu_trainer *trainer);
/* Returns the key most like this one, NULL if none is. */
const char *config_nearest(const char *key);
/* Return the folder of a file's path, and its name there with another suffix, "halfulp" for standard input. To be
 * freed; NULL: no memory. */
char *config_folder(const char *path);
char *config_beside(const char *path, const char *suffix);

#endif
