/* SPDX-License-Identifier: MIT */
/* layouts/layouts.h - a row of the table of layouts, a tensor that was recognised, and an open checkpoint.
 *
 * The table (table.c) is data: a new layout is a row, and code only where its order of bits or its scales are of a new
 * kind. recognise.c asks for each tensor which row has its name, dtype and companions, geometry.c whether the shapes go
 * together, values.c computes. */
#ifndef HALFULP_LAYOUTS_LAYOUTS_H
#define HALFULP_LAYOUTS_LAYOUTS_H

#include <regex.h>
#include <string.h>

#include "files/safetensors.h"
#include "halfulp/checkpoint.h"
#include "halfulp/format.h"

/* Makes a set of dtypes. */
#define HUI_DTYPE(name) (1u << ST_##name)

/* How a code stands in the bytes; q(r, c) of a matrix of rows x cols. */
enum hui_packing {
  HUI_FLAT,      /* one after the other, lowest bits first, whatever the rows: safetensors' own dtypes */
  HUI_LOW,       /* two codes in a byte along the row, the even one in the low half */
  HUI_HIGH,      /* the same, the even one in the high half */
  HUI_SIX,       /* four codes of 6 bits in three bytes along the row */
  HUI_STREAM,    /* 32-bit words along the row; codes run across words */
  HUI_WORDS,     /* 32 div bits codes in a word along the row, upper bits unused */
  HUI_COLUMN,    /* words [cols * bits / 32, rows]: a stream of words down each column of the file (GPTQ) */
  HUI_AWQ,       /* words [cols, rows / 8], nibble order 0 2 4 6 1 3 5 7 */
  HUI_ROW_PAIRS, /* two rows in a byte, the even one in the low half */
  HUI_FLAT_HIGH  /* two codes in a byte, rows ignored, the even one in the high half (bitsandbytes) */
};

/* What a code is. */
enum hui_element {
  HUI_OF_DTYPE, /* the dtype of the file says it */
  HUI_E2M1,
  HUI_E4M3,
  HUI_E2M3,
  HUI_E3M2,
  HUI_OFFSET,   /* an integer, stored as the number plus 2^(bits - 1) */
  HUI_TWOS,     /* an integer in two's complement */
  HUI_UNSIGNED, /* an unsigned integer */
  HUI_TABLE     /* a place in a table of numbers in the file */
};

/* Where a scale of a block lies. */
enum hui_grid {
  HUI_NO_SCALE,
  HUI_BY_SHAPE, /* one per tensor, matrix, row, column or block: the shape and the config decide */
  HUI_ALONG,    /* [.., rows, ceil(cols / block)] */
  HUI_DOWN,     /* [.., ceil(rows / block), cols] */
  HUI_TILES,    /* the same in tiles of 128 x 4, filled up (docs/scaled.md) */
  HUI_GROUPS,   /* [.., rows, groups]: group size from the config, or cols / groups */
  HUI_GROUPS_T, /* [groups, rows] */
  HUI_RUNS      /* of so many elements in row-major order (bitsandbytes) */
};

/* What the bytes of a scale are. */
enum hui_scale { HUI_SCALE_DTYPE, HUI_SCALE_E8M0, HUI_SCALE_E4M3, HUI_SCALE_E5M3 };

/* A condition beside names and dtypes. */
enum hui_asks {
  HUI_ASKS_NOTHING,
  HUI_ASKS_NAME,    /* --layout names the row */
  HUI_ASKS_FILE,    /* the kind of file has it: the row is there to be named */
  HUI_ASKS_COMFY,   /* comfy_quant or the metadata name this format for the layer */
  HUI_ASKS_DTYPE,   /* the config has `word` as the dtype of the module's weights */
  HUI_ASKS_TORCHAO, /* the metadata give _type `word` */
  HUI_ASKS_AWQ,     /* the config or the shapes say that it is not GPTQ's */
  HUI_ASKS_GEMV,    /* AWQ: the version is gemv */
  HUI_ASKS_GPTQ,    /* the config does not say that it is AWQ's */
  HUI_ASKS_V2       /* GPTQ: checkpoint_format is gptq_v2, or AutoRound's packing keeps zeros as they are */
};

typedef struct hui_layout {
  hu_checkpoint_layout said;
  const char *codes, *values; /* ends of names: of the codes, and in its place of the values */
  uint32_t dtypes;            /* of codes */
  uint8_t element, bits, packing;
  const char *scale; /* end of the name */
  uint32_t scale_dtypes;
  uint8_t scale_type, grid;
  uint16_t block; /* of HUI_ALONG, HUI_TILES */
  const char *second;
  uint8_t divide; /* 1: the block's scale is divided by the second one */
  const char *zero;
  uint8_t zero_plus;                             /* what is added to a stored zero point */
  const char *bias, *order, *sizes;              /* added to a product; group of a column; a tensor with the shape */
  const char *map, *nested, *nested_map, *state; /* bitsandbytes */
  uint8_t asks;
  const char *word;
  const char *sure;      /* quant_methods, separated by blanks, under which `open` is not open */
  const char *beside[6]; /* ends of names that belong to it and are part of no value */
} hui_layout;
extern const hui_layout hui_layouts[];
extern const size_t hui_layouts_count;
const hui_layout *hui_layout_find(const char *name);

/* Layouts that are known and not read: what gives them away, and what to say. */
typedef struct hui_refused {
  const char *end;    /* of a tensor's name; NULL: none */
  uint32_t dtypes;    /* of this tensor */
  const char *beside; /* end of the name of another one; NULL: none is asked for */
  const char *method; /* quant_method; NULL: none */
  const char *name;
} hui_refused;
extern const hui_refused hui_refusals[];
extern const size_t hui_refusals_count;

/* A tensor in a file. */
typedef struct hui_raw {
  const st_tensor *tensor;
  const uint8_t *bytes;
  const struct hui_shard *shard;
  uint8_t used; /* 1: of a layout, and not shown by itself */
} hui_raw;

/* Codes of a matrix, and where they are. */
typedef struct hui_codes {
  const uint8_t *bytes;
  size_t rows, cols, line; /* line: words or bytes of a row as stored; of HUI_COLUMN of a row of words */
  size_t matrix;           /* bytes from one matrix to the next */
  uint8_t packing, bits;
} hui_codes;

typedef struct hui_tensor {
  char *name;
  const hui_layout *layout; /* NULL: as it is stored */
  const hui_raw *raw;       /* of the codes */
  size_t *shape, count, rows, cols;
  uint32_t dims;
  int plain; /* 1: codes of its dtype, without scales */
  hui_codes codes, zeros;
  const hui_raw *scale, *second, *zero, *bias, *order;
  const hui_raw *map, *nested, *nested_map;
  double offset;                                          /* of nested scales */
  size_t block[2];                                        /* rows, columns of a scale; of HUI_RUNS elements, 0 */
  size_t down, across, matrix, nested_block, second_step; /* steps from one scale to the next */
  uint8_t grid, scale_type, element, zero_twos, zero_by_row, zero_flat;
  const char *open;
  char elements[32], scales[48];
} hui_tensor;

typedef struct hui_bytes {
  const uint8_t *data;
  size_t size;
  int mapped;
} hui_bytes;

/* Who reads files: 1, or 0 and a sentence in the line (none: it was said already). */
typedef struct hui_reader {
  int (*read)(hui_bytes *z, const char *path, char line[HU_CHECKPOINT_LINE]);
  void (*free)(hui_bytes *z);
} hui_reader;

typedef struct hui_shard {
  char *path;
  hui_bytes bytes;
  st_file file;
  struct json_t *comfy; /* _quantization_metadata */
  uint64_t device, inode;
  struct gguf_file *gguf; /* NULL: another kind of file */
  uint8_t **own;          /* of the tensors that are not in the file as they are; NULL: all are */
  size_t own_count;
} hui_shard;

/* What the config says of modules whose names fit an expression, or a pattern. */
typedef struct hui_rule {
  const char *glob; /* NULL: the expression */
  regex_t regex;
  struct json_t *value; /* of the config; null: such modules are not quantized */
} hui_rule;

enum { HUI_NAME_MAX = 1024, HUI_SHARDS_MAX = 10000 };

struct hu_checkpoint {
  const hui_reader *reader;
  char *path, *folder; /* folder: "" or with a / at the end */
  hui_shard *shards;
  size_t shard_count;
  hui_raw *raws; /* sorted by name */
  size_t raw_count;
  struct json_t *raw_names, *names;
  char *format_text; /* .npy: the format of its codes; NULL: another file */
  hu_format format;
  struct json_t *links;                 /* ONNX: names of codes, each with those of what scales them */
  struct json_t *map;                   /* weight_map of an index */
  char *index;                          /* that says which files there are; NULL: it may say where others lie */
  struct json_t *config, *quantization; /* config.json; what it says of quantization, from wherever it is */
  const char *says;                     /* the file that says so; NULL: none */
  struct json_t *modules, *otherwise;   /* what it says of modules, by name, and of all others */
  hui_rule *rules;
  size_t rule_count;
  hui_tensor *tensors;
  size_t count;
  char *line;
};

/* Writes a sentence into the checkpoint's line; 0. */
int hui_wrong(hu_checkpoint *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes what jansson says of a file; 0. */
struct json_error_t;
int hui_wrong_json(hu_checkpoint *x, const char *path, const struct json_error_t *where);
/* Does what hu_checkpoint_open does, with another reader of files. */
hu_status hui_checkpoint_open(hu_checkpoint **z, const char *path, const char *layout, const hui_reader *reader,
                              char line[HU_CHECKPOINT_LINE]);
/* Returns 1 if the end of a name is that of a kind of model that is read. */
int hui_is_model_name(const char *name);
/* Returns how many bytes the byte order mark has that some editors write before JSON: 3 or 0. */
static inline size_t hui_byte_order_mark(const void *data, size_t size) {
  return size >= 3 && !memcmp(data, "\xEF\xBB\xBF", 3) ? 3 : 0;
}
/* Checks that a path is that of an ordinary file (shards.c), and notes which one: 1, or 0 and the line. shard may be
 * NULL. */
int hui_shard_check(hu_checkpoint *x, const char *path, hui_shard *shard);
/* Adds a file of the folder and reads its bytes, without a look at its kind; NULL and the line. */
hui_shard *hui_shard_read(hu_checkpoint *x, const char *name);
/* Finds or adds a file of bytes in the folder, whose tensors are added later: 1 and its place, or 0 and the line. */
int hui_shard_beside(hu_checkpoint *x, const char *name, size_t *place);
/* Returns 1 if the files of a tensor have not become shorter since they were opened, which would end the process that
 * reads the map. */
int hui_is_whole(const hui_tensor *z);
/* Read all files (files.c): 1, or 0 and the line. */
int hui_files_open(hu_checkpoint *x);
/* Read config.json and its like (config.c): 1, or 0 and the line. */
int hui_config_open(hu_checkpoint *x);
const char *hui_config_method(const hu_checkpoint *x); /* "" if there is none */
/* Return what the config has of the module of a tensor's name, or of all: 1 for a number; "" for no text; 1 for the
 * rows and columns of a block. */
int hui_config_number(const hu_checkpoint *x, const char *base, const char *key, long *z);
const char *hui_config_text(const hu_checkpoint *x, const char *base, const char *key);
int hui_config_block(const hu_checkpoint *x, const char *base, size_t block[2]);
/* Reads the sides of a block (config_types.c): [128, 128], or what older files have, "128x128"; 0: neither. */
int hui_config_sides(const struct json_t *value, size_t block[2]);
/* Checks the types of the values that are used: 1, or 0 and the line. field: where they stand. */
int hui_config_check(hu_checkpoint *x, const char *field, struct json_t *value);
/* Read what the config says of single modules (modules.c): 1, or 0 and the line. */
int hui_modules_open(hu_checkpoint *x);
void hui_modules_close(hu_checkpoint *x);
/* Returns what the config has of a tensor's module: its own, or what holds for all; NULL: nothing, null: that it is not
 * quantized. */
struct json_t *hui_module(const hu_checkpoint *x, const char *base);
/* Returns a value of the metadata of the tensor's file; NULL: there is none. */
const char *hui_metadata(const hui_raw *raw, const char *key);

/* Finds the layouts of all tensors (recognise.c): 1, or 0 and the line. */
int hui_recognise(hu_checkpoint *x, const hui_layout *asked, int *found);
const hui_raw *hui_raw_find(const hu_checkpoint *x, const char *name);
/* Lays out the tensor by its layout (geometry.c): 1; 0: the shapes do not go together, and the line says why. */
int hui_geometry(hu_checkpoint *x, hui_tensor *z, const char *base);

/* Blocks of GGUF (gguf.c). hui_gguf_open: reads a file: 1, or 0 and the line. hui_gguf_blocks: lays out a tensor that
 * hui_gguf_is_blocks: 1, or 0 and the line. hui_gguf_read: its values, without the second scale. */
int hui_gguf_open(hu_checkpoint *x, hui_shard *shard);
void hui_gguf_close(hui_shard *shard);
int hui_gguf_is_blocks(const hui_raw *raw);
int hui_gguf_blocks(hu_checkpoint *x, hui_tensor *z, const hui_raw *raw);
void hui_gguf_read(float *z, const hui_tensor *x, size_t first, size_t n);

/* ONNX. hui_onnx_open: reads a model: 1, or 0 and the line. hui_onnx_tensor: lays out a tensor that hui_onnx_has_link:
 * 1, or 0 and the line. */
int hui_onnx_open(hu_checkpoint *x, hui_shard *shard);
int hui_onnx_has_link(const hu_checkpoint *x, const hui_raw *raw);
int hui_onnx_tensor(hu_checkpoint *x, hui_tensor *z, const hui_raw *raw);
/* Writes what a tensor's elements and scales are. */
void hui_set_texts(hui_tensor *z);
/* Read .npy (npy.c): hui_npy_format takes the format of the codes; hui_npy_open reads a file: 1, or 0 and the line;
 * hui_npy_read its values. */
int hui_npy_format(hu_checkpoint *x, const char *text);
int hui_npy_open(hu_checkpoint *x, hui_shard *shard);
void hui_npy_read(const hu_checkpoint *x, const hui_tensor *z, size_t first, size_t n, double *values);
/* Reads a file of PyTorch (torch.c): 1, or 0 and the line. */
int hui_torch_open(hu_checkpoint *x, hui_shard *shard);
/* Gives a tensor of a file bytes of its own, which are the file's from now on: 1, or 0 and the line. */
int hui_own(hu_checkpoint *x, hui_shard *shard, const st_tensor *tensor, uint8_t *own);

/* Returns the code of element r, c of matrix m. */
unsigned hui_code(const hui_codes *codes, size_t m, size_t r, size_t c);
/* Returns the place of an element's scale among those of the file. */
size_t hui_scale_place(const hui_tensor *z, size_t m, size_t r, size_t c);
/* Returns a scale as a binary32 pattern. */
uint32_t hui_scale_bits(const hui_raw *raw, uint8_t type, size_t i);
/* Does what hu_checkpoint_read does, before its rounding into binary32. */
hu_status hui_exact(const hu_checkpoint *x, size_t i, size_t first, size_t n, double *z);
/* What a rule makes of a block: the scale that is stored, and what is added to its values; binary32 patterns. */
typedef struct hui_factor {
  uint32_t stored, bias;
} hui_factor;
/* Returns the place among the targets of the one that writes such integers in such blocks; SIZE_MAX: none does. */
size_t hui_integers_of(const hui_tensor *tensor);
/* Makes codes of a block of patterns by the rule of compressed-tensors, or with biases by MLX's (write/integers.c).
 * type: that of the program's arithmetic. */
hui_factor hui_integers_round(int biases, hu_format type, size_t n, const uint32_t *x, uint8_t *codes);
/* Returns 1 if this CPU's binary32 operations are those of IEEE 754, ties to even: it rounds to nearest, and keeps
 * subnormal numbers. */
int hui_is_ieee(void);

#endif
