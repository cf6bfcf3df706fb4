/* SPDX-License-Identifier: MIT */
/* Names and sentences of the statuses. */
#include "halfulp/status.h"

typedef struct status_row {
  hu_status status;
  const char *name;
  const char *text;
} status_row;

static const status_row rows[] = {
    {HU_OK, "HU_OK", "success"},
    {HU_E_FORMAT, "HU_E_FORMAT", "the format descriptor contradicts itself or is out of range"},
    {HU_E_CARRIER, "HU_E_CARRIER", "the format has values that a binary32 array cannot hold exactly"},
    {HU_E_MODE, "HU_E_MODE", "unknown rounding, saturation, tininess or NaN policy, or random bits not 1 to 32"},
    {HU_E_NULL, "HU_E_NULL", "a pointer that must not be NULL is NULL"},
    {HU_E_SHAPE, "HU_E_SHAPE", "a size, stride or leading dimension makes no sense or does not fit the address space"},
    {HU_E_OVERLAP, "HU_E_OVERLAP", "arrays overlap as the call does not allow"},
    {HU_E_ALIGN, "HU_E_ALIGN", "a pointer is not aligned to the size of its elements"},
    {HU_E_GRID, "HU_E_GRID", "an array of values has a number that its format lacks; of codes, kind is HU_TYPE_CODES"},
    {HU_E_CODE, "HU_E_CODE",
     "an array of codes holds one with bits above its format's width; hu_unpack_n unpacks packed 4- and 6-bit codes"},
    {HU_E_TEXT, "HU_E_TEXT", "the text does not follow the grammar"},
    {HU_E_NAME, "HU_E_NAME", "nothing has this name"},
    {HU_E_SPACE, "HU_E_SPACE", "the buffer is too small"},
    {HU_E_ACCUM, "HU_E_ACCUM", "the accumulation model is unknown or not usable with these formats"},
    {HU_E_SCALING, "HU_E_SCALING", "the description of a scaled tensor contradicts itself or the call"},
    {HU_E_NUMBER, "HU_E_NUMBER", "the description of a number system contradicts itself or is out of range"},
    {HU_E_OPERAND_A, "HU_E_OPERAND_A", "operand A is not of the format that the accumulation model takes"},
    {HU_E_OPERAND_B, "HU_E_OPERAND_B", "operand B is not of the format that the accumulation model takes"},
    {HU_E_OPERAND_C, "HU_E_OPERAND_C", "operand C is not of the format that the accumulation model takes"},
    {HU_E_MEMORY, "HU_E_MEMORY", "out of memory"},
    {HU_E_DEVICE, "HU_E_DEVICE", "no CUDA device is usable, or the library was built without CUDA"},
    {HU_E_CUDA, "HU_E_CUDA", "the CUDA runtime reported an error"},
    {HU_E_MPI, "HU_E_MPI", "a call of MPI failed, or a rank did not answer in time"},
    {HU_E_TRAIN, "HU_E_TRAIN", "the description of a training system has a field out of range"},
    {HU_E_FILE, "HU_E_FILE", "a file cannot be read"},
    {HU_E_DATA, "HU_E_DATA", "the content of a file is not what its format says"},
};

/* A value that no call returns gets a row of its own. */
static const status_row unknown = {HU_OK, "HU_E_UNKNOWN", "not a status of this library"};

static const status_row *find_row(hu_status status) {
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].status == status) return &rows[i];
  }
  return &unknown;
}

const char *hu_status_name(hu_status status) { return find_row(status)->name; }
const char *hu_status_text(hu_status status) { return find_row(status)->text; }
