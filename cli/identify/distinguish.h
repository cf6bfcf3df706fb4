/* SPDX-License-Identifier: MIT */
/* cli/identify/distinguish.h - questions that two models answer differently: found, made short, or shown
 * not to exist. */
#ifndef HALFULP_CLI_IDENTIFY_DISTINGUISH_H
#define HALFULP_CLI_IDENTIFY_DISTINGUISH_H

#include "cli/question/draw.h"

/* Draws questions of all kinds, `count` of each, until the models answer one differently: 1, and it is row 0 of
 * questions, with no answer; 0: none was found; -1: memory ended. questions is started here. *compared, unless NULL:
 * how many questions. */
int id_distinguish(id_vectors *questions, const id_shape *shape, const hu_accum *model, const hu_accum *other,
                   size_t count, id_random *random, uint64_t *compared);

/* Draws `count` questions near those of `pool`, which has some; its first rows are taken more often. */
int id_distinguish_near(id_vectors *questions, const id_vectors *pool, const hu_accum *model, const hu_accum *other,
                        size_t count, id_random *random);

/* Makes row 0 of the questions shorter while `holds` says of it what it says now: fewer products, then simpler
 * operands. */
typedef int id_holds(void *context, id_vectors *questions);
void id_shorten(id_vectors *questions, id_holds *holds, void *context);
/* Shortens row 0 likewise for two models that differ on it. */
void id_shorten_difference(id_vectors *questions, const hu_accum *model, const hu_accum *other);

/* Compares every question of this shape; at most 2^30 of them. 1: on row 0 of the questions the models differ; 0: they
 * differ on none, which is a proof; -1: there are more questions than that. *count: how many were compared. */
int id_distinguish_all(id_vectors *questions, const id_shape *shape, const hu_accum *model, const hu_accum *other,
                       uint64_t *count);

#endif
