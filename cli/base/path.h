/* SPDX-License-Identifier: MIT */
/* cli/base/path.h - finds what a name of a file leads to, for io.c, output.c and output_set.c. All others ask io.h. */
#ifndef HALFULP_CLI_BASE_PATH_H
#define HALFULP_CLI_BASE_PATH_H

#include <stddef.h>

/* 1: "-", standard input or output. */
int cli_is_stream(const char *path);
/* 1: a device, a pipe, a folder: there is nothing to rename over. */
int cli_is_special(const char *path);
/* What a link leads to is replaced, not the link; one that leads nowhere stays a link, to the new file. To be freed;
 * NULL: out of memory. */
char *cli_follow_links(const char *path);
/* A file named `name` in the folder of another one. To be freed; NULL: out of memory. */
char *cli_beside(const char *path, const char *name);

/* Files that are being written, for mkstemp: short, since the file's own name may be as long as names can be. The file
 * that two writers of several files lock. */
#define CLI_TEMPORARY ".halfulp-XXXXXX"
#define CLI_LOCK ".halfulp-lock"

#endif
