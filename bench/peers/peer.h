/* SPDX-License-Identifier: MIT */
/* bench/peers/peer.h - the calls of an adapter to another library, as cases that halfulp has as well. */
#ifndef HALFULP_BENCH_PEERS_PEER_H
#define HALFULP_BENCH_PEERS_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What halfulp does in a case. PEER_QUANTIZE: binary32 numbers to binary32 numbers that the format has. PEER_DOT: the
 * product of 16 x `number` codes of binary16 and `number` x 16, both row by row at the start of each 256 elements of x
 * and y, into 16 x 16 numbers of binary32, by fused multiply-adds along k from +0. The others: arithmetic on codes of
 * binary16 or binary32, or binary32 numbers into codes of binary16. */
enum { PEER_QUANTIZE, PEER_ENCODE, PEER_ADD, PEER_MUL, PEER_DIV, PEER_SQRT, PEER_FMA, PEER_DOT };
enum { PEER_SIDE = 16 };

typedef struct peer_case {
  const char *name;   /* as the table calls it */
  int op;             /* PEER_ */
  const char *format; /* halfulp's text of the format */
  const char *round;  /* "rne", "rna", "rtz", "rtp", "rtn", "rto", or "sra:23": random, only the time is compared */
  int saturate;       /* 1: overflow gives the largest number */
  int number;         /* for the adapter; PEER_DOT: products of a dot product, at most PEER_SIDE */
} peer_case;

/* The last one has no name. */
extern const peer_case peer_cases[];
/* Computes the other library's results z of n elements; the arrays have the elements that the case reads. */
void peer_run(const peer_case *asked, size_t n, void *z, const void *x, const void *y, const void *third);

#ifdef __cplusplus
}
#endif
#endif
