/* SPDX-License-Identifier: MIT */
/* halfulp/status.h - the version, which the build reads from here, and what a call says about misuse.
 *
 * IEEE exceptions are not errors here: they are events, part of the result (mode.h). A status says that the arguments
 * make no sense. Arguments are checked before anything is written, so on failure every output is untouched. */
#ifndef HALFULP_STATUS_H
#define HALFULP_STATUS_H

/* The version of these headers, in numbers and as text. */
#define HU_VERSION_MAJOR 0
#define HU_VERSION_MINOR 1
#define HU_VERSION_PATCH 0
#define HU_VERSION_STRING "0.1.0"

/* HU_MUST_CHECK: the compiler warns where the status is dropped. HU_API: the library exports it. */
#if defined(__GNUC__) || defined(__clang__)
#define HU_MUST_CHECK __attribute__((warn_unused_result))
#define HU_API __attribute__((visibility("default")))
#else
#define HU_MUST_CHECK
#define HU_API
#endif

/* HU_AS: a conversion that neither C nor C++ warns of. */
#ifdef __cplusplus
#define HU_AS(type, x) static_cast<type>(x)
#else
#define HU_AS(type, x) ((type)(x))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are pinned; gaps are for relatives that come later. */
typedef enum hu_status {
  HU_OK = 0,            /* done */
  HU_E_FORMAT = -10,    /* a descriptor that hu_format_check refuses */
  HU_E_CARRIER = -11,   /* the format has values that the array's own type (binary32) cannot hold exactly */
  HU_E_MODE = -20,      /* rounding, saturation, tininess or NaN policy unknown, or random bits not 1..32 */
  HU_E_NULL = -30,      /* a pointer that must not be NULL is */
  HU_E_SHAPE = -40,     /* a size, stride or leading dimension that makes no sense, or does not fit the address space */
  HU_E_OVERLAP = -41,   /* outputs overlap inputs, or each other, in a way the call does not allow */
  HU_E_ALIGN = -42,     /* a pointer not aligned to its element's size */
  HU_E_GRID = -43,      /* an array said to hold values of a format holds one that the format lacks */
  HU_E_CODE = -44,      /* an array of codes holds one with bits above its format's width (array.h) */
  HU_E_TEXT = -60,      /* a text that does not follow the grammar */
  HU_E_NAME = -61,      /* an unknown name */
  HU_E_SPACE = -62,     /* a text buffer too small; the size needed is reported */
  HU_E_ACCUM = -70,     /* an accumulation model unknown, or not usable with these formats */
  HU_E_SCALING = -71,   /* a description of a scaled tensor whose parts do not go together */
  HU_E_NUMBER = -72,    /* a description of a number system that hu_number_check refuses */
  HU_E_OPERAND_A = -73, /* operand A is not of the format that the model takes (hu_accum_takes names it) */
  HU_E_OPERAND_B = -74, /* operand B is not */
  HU_E_OPERAND_C = -75, /* operand C is not */
  HU_E_MEMORY = -80,    /* a call that may allocate (oracle, device set-up) could not */
  HU_E_DEVICE = -90,    /* no CUDA device, or this library was built without CUDA */
  HU_E_CUDA = -91,      /* the CUDA runtime reported an error */
  HU_E_MPI = -92,       /* a call of MPI failed, or a rank did not answer in time (mpi.h) */
  HU_E_TRAIN = -100,    /* a description of a training system with a field out of range */
  HU_E_FILE = -110,     /* a file that cannot be read */
  HU_E_DATA = -111      /* a file whose content is not what its format says, or a label out of range */
} hu_status;

/* The enumerator's name ("HU_E_FORMAT") and one sentence; never NULL, static storage. */
HU_API const char *hu_status_name(hu_status status); /* the name */
HU_API const char *hu_status_text(hu_status status); /* the sentence */

#ifdef __cplusplus
}
#endif
#endif
