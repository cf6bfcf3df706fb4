/* SPDX-License-Identifier: MIT */
/* files/spelling.h - how far a word is from another one, for errors that name the word that is likely meant. */
#ifndef HALFULP_FILES_SPELLING_H
#define HALFULP_FILES_SPELLING_H

#include <stddef.h>

/* The number of letters to change, to add, to leave out or to swap with the next one that makes one word the other.
 * Words of more than 64 bytes are like none: the sum of their lengths. */
size_t spelling_distance(const char *x, const char *y);
/* The word of a list (up to a NULL) that is nearest to x, if it is at most two steps away and not all of it is
 * different; NULL: none. */
const char *spelling_nearest(const char *x, const char *const *words);

#endif
