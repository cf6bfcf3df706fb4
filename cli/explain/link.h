/* SPDX-License-Identifier: MIT */
/* cli/explain/link.h - links to the playground (docs/playground), whose address holds what it shows. */
#ifndef HALFULP_CLI_EXPLAIN_LINK_H
#define HALFULP_CLI_EXPLAIN_LINK_H

#include <stddef.h>

enum { LINK_MAX = 8192 };

/* Writes the address of the playground's page with the tab of this name: that of the environment's HALFULP_PLAYGROUND,
 * else that of the page beside this program (a build folder, an installation), else the page's name alone. *found: 0
 * for the last. */
void link_begin(char link[LINK_MAX], const char *tab, int *found);
/* Adds key=value, the value in percent encoding; nothing for NULL. What does not fit is left out. */
void link_add(char link[LINK_MAX], const char *key, const char *value);

#endif
