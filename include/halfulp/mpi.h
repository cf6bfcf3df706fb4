/* SPDX-License-Identifier: MIT */
/* halfulp/mpi.h - an all-reduce over the ranks of an MPI communicator, with the bits that a collective model says.
 *
 *   hu_mpi where = {MPI_COMM_WORLD, 0, 0, 0, ""};
 *   hu_status s = hu_mpi_allreduce(&where, n, z, bfloat16, x, &ring, &how);
 *   if (s != HU_OK) fprintf(stderr, "rank %d: %s\n", where.rank, where.why);
 *
 * Every rank gets in z what hu_collective_reduce (collective.h) gives for the buffers of all ranks, bit for bit, and
 * the same events, whatever the MPI library does. So `exact` and `pairwise` of the same numbers have the same bits
 * however they lie on ranks, and `ring` has those of a ring of so many participants.
 *
 *   ways      with one participant a rank, pairwise, ring, tree and doubling are carried out as collective.h says: the
 *             messages between ranks are those of the model, rounded into its wire (what a scaled wire leaves travels
 *             as binary32 numbers). The other models, and ranks with several participants, go by segments: each rank
 *             gets a part of all buffers, reduces it and hands its sums out. Both ways give the same bits
 *   together  a call is collective: all ranks of the communicator make it. First they compare their arguments, so that
 *             a rank with wrong ones keeps no other one waiting: all ranks return the error. z and events are untouched
 *             then
 *   failure   no rank waits for another one longer than the timeout. After HU_E_MPI the state of the communicator is
 *             unknown, z may be partly written, and some memory stays allocated, which messages under way may still
 *             use, as they may x and z, which therefore stay where they are: the job is to be ended. Errors that the
 *             MPI library notices go to the communicator's error handler first, which ends the job unless it was set to
 *             MPI_ERRORS_RETURN
 *   memory    allocates up to 12 MiB, or more where 512 elements of every participant, or of each participant of a rank
 *             for every rank, are more than 4 MiB; with ring as messages three chunks, 4 bytes per element
 *   threads   MPI is called in the calling thread alone (MPI_THREAD_FUNNELED suffices). Messages between two ranks have
 *             the tag HU_MPI_TAG: a communicator of its own keeps them apart from others
 *
 * The library is libhalfulp-mpi (pkg-config halfulp-mpi), which is built where meson finds MPI. */
#ifndef HALFULP_MPI_H
#define HALFULP_MPI_H

#include <mpi.h>

#include "halfulp/collective.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tag of messages. */
#define HU_MPI_TAG 18537
/* Which way a call goes. */
enum {
  HU_MPI_AS_MODEL = 0, /* as the model says, where it says it for these ranks; else by segments */
  HU_MPI_SEGMENTS = 1  /* by segments */
};

/* Where a call takes place, and what went wrong. Begin with {comm, 0, 0, 0, ""}. */
#define HU_MPI_WHY_MAX 200
typedef struct hu_mpi {
  MPI_Comm comm;
  double timeout;           /* seconds that a rank waits for another one; 0: 300 */
  uint32_t way;             /* HU_MPI_ */
  int rank;                 /* after an error: the rank that caused it; -1: not known */
  char why[HU_MPI_WHY_MAX]; /* after an error: a sentence */
} hu_mpi;

/* z = what every participant holds after an all-reduce of x over all ranks: rank r is participant r. Arguments as those
 * of hu_collective_reduce; z may be x. All ranks give the same n, format, model, mode, stream and way; each may have
 * threads and levels of its own, and events or NULL. Errors: those of hu_collective_reduce, on all ranks; HU_E_SHAPE:
 * the ranks do not agree, or 512 elements of one rank's participants, times the ranks, are above 2 GiB; HU_E_MEMORY;
 * HU_E_MPI: a call of MPI failed, or a rank did not answer in time. where->rank and where->why say who and what. */
HU_API HU_MUST_CHECK hu_status hu_mpi_allreduce(hu_mpi *where, size_t n, void *z, hu_format format, const void *x,
                                                const hu_collective *model, const hu_how *how);
/* The same with `own` participants on this rank, whose buffers are x[0] ... x[own - 1]; ranks may have different
 * numbers of them, also none, but not all none. Participants are counted from rank 0 on, and on a rank in the order
 * of x. */
HU_API HU_MUST_CHECK hu_status hu_mpi_allreduce_many(hu_mpi *where, size_t n, void *z, hu_format format, size_t own,
                                                     const void *const *x, const hu_collective *model,
                                                     const hu_how *how);

#ifdef __cplusplus
}
#endif
#endif
