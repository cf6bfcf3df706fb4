/* SPDX-License-Identifier: MIT */
/* cli/identify/identify.h - from a black box to what is known of it. */
#ifndef HALFULP_CLI_IDENTIFY_IDENTIFY_H
#define HALFULP_CLI_IDENTIFY_IDENTIFY_H

#include "cli/identify/decide.h"
#include "cli/identify/tree.h"

enum {
  ID_FOUND,      /* a model gives every answer */
  ID_ORDERED,    /* no model, but a tree of rounded additions does */
  ID_NEAREST,    /* nothing does; the nearest model, and the shortest question on which it fails */
  ID_UNFINISHED, /* it was stopped; what was known by then, perhaps a model that gives most answers */
  ID_NOISY,      /* the box answered the same question twice, and differently */
  ID_CONSTANT    /* it gives one answer to everything, or NaN */
};

/* Kinds of questions, by the operands and by both answers; the first that holds. */
enum { ID_KIND_SPECIAL, ID_KIND_SUBNORMAL, ID_KIND_ZERO, ID_KIND_TIE, ID_KIND_NORMAL, ID_KINDS /* (count) */ };
extern const char *const id_kind_words[ID_KINDS];

/* The shortest question of a kind, with the box's answer, on which the nearest model fails. */
typedef struct id_failure {
  id_vectors question; /* one row; none: no failure of this kind was seen */
  uint64_t gives;      /* what the model gives */
  uint64_t count;      /* drawn questions of the kind that it fails */
} id_failure;

enum { ID_NAMES_MOST = 160 };

/* A preset that the box is not: a short question with the box's answer, and what the preset gives. */
typedef struct id_other {
  char name[48];
  id_vectors question;
  uint64_t gives;
} id_other;

/* Presets of the box's formats. */
typedef struct id_names {
  char equal[ID_NAMES_MOST][48]; /* no question distinguishes them from the model */
  int count;
  id_other others[ID_NAMES_MOST];
  int other_count;
} id_names;

typedef struct id_result {
  int verdict;
  hu_accum model;    /* found, or the nearest */
  int has_model;     /* ID_UNFINISHED: there is one */
  char *notes;       /* lines on what the first questions show */
  size_t candidates; /* that no question distinguished */
  id_decisions decisions;
  id_tree tree;
  int fused, sum;                       /* ID_ORDERED: products go into additions unrounded; which sum it is (tree.h) */
  uint64_t questions, verified, probes; /* to find it; drawn ones, and golden probes, that it stood afterwards */
  id_names names;                       /* of a model that was found */
  id_vectors failing;        /* one row with the box's answer, where the model fails or the box contradicts itself */
  uint64_t other;            /* the model's answer, or the box's second one */
  uint64_t checked, differs; /* ID_NEAREST: drawn questions, and those on which the model fails */
  id_failure failures[ID_KINDS]; /* ID_NEAREST */
  uint64_t nan;                  /* the pattern of a NaN that was seen, 0 */
  double seconds;
} id_result;

typedef struct id_settings {
  uint64_t seed, verify; /* drawn questions of the verification */
  const char *golden;    /* the folder of mma/probes.txt, NULL: none */
} id_settings;

/* Identifies the box; `search` has been started. Returns 0, or an exit code after an error line: the box failed. */
int id_identify(id_search *search, const id_settings *settings, id_result *result);
void id_result_free(id_result *result);

/* Returns 1 if the preset computes from the box's formats, into its D or the type of its sums, in blocks of which K is
 * a multiple. */
int id_is_of_shape(const hu_accum_preset *preset, const id_shape *shape, hu_type sum);
/* Finds the presets that give the model's answers, and for the others a question on which they differ; *failed: the box
 * contradicted the model. Returns 0 or an exit code. */
int id_find_names(id_search *search, const hu_accum *model, id_names *names, int *failed);
void id_names_free(id_names *names);
/* Asks the golden probes of these formats; *failed: a row that the model does not give was added to those asked. */
int id_ask_probes(id_search *search, const char *folder, const hu_accum *model, uint64_t *count, int *failed);

#endif
