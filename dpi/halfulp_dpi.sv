// SPDX-License-Identifier: MIT
// halfulp_dpi - halfulp's arithmetic in SystemVerilog test benches, over DPI-C.
//
//   import halfulp_dpi::*;
//   chandle e4m3 = hu_format("float8_e4m3fn"), half = hu_format("binary16"), rne = hu_mode("rne");
//   int unsigned z, events;
//   void'(hu_check(hu_dpi_fma(half, rne, e4m3, a, e4m3, b, half, c, 0, z, events), "fma"));
//   if (dut_z !== 16'(z)) $error("...");
//
// Compile halfulp_dpi.c with the bench and link libhalfulp. The imports are as halfulp_dpi.h describes them: they
// return a status, 0 without an error, and set their outputs. hu_format, hu_mode and hu_model below end the simulation
// at a wrong text, with a message that says what is wrong. Release handles with hu_dpi_free.
package halfulp_dpi;

  // A test bench need not use all of these.
  /* verilator lint_off UNUSED */
  // Events: bits of the `events` of every operation (docs/numerics.md, section 5).
  localparam int unsigned HU_EVENT_OVERFLOW       = 32'h001;
  localparam int unsigned HU_EVENT_SATURATED      = 32'h002;
  localparam int unsigned HU_EVENT_UNDERFLOW      = 32'h004;
  localparam int unsigned HU_EVENT_TO_ZERO        = 32'h008;
  localparam int unsigned HU_EVENT_SUBNORMAL      = 32'h010;
  localparam int unsigned HU_EVENT_INEXACT        = 32'h020;
  localparam int unsigned HU_EVENT_INVALID        = 32'h040;
  localparam int unsigned HU_EVENT_NAN_IN         = 32'h080;
  localparam int unsigned HU_EVENT_INF_IN         = 32'h100;
  localparam int unsigned HU_EVENT_DIVIDE_BY_ZERO = 32'h200;

  // Flags: bits of hu_dpi_flags(events), in the order of RISC-V's fflags and TestFloat.
  localparam int unsigned HU_FLAG_INEXACT        = 32'h01;  // NX
  localparam int unsigned HU_FLAG_UNDERFLOW      = 32'h02;  // UF
  localparam int unsigned HU_FLAG_OVERFLOW       = 32'h04;  // OF
  localparam int unsigned HU_FLAG_DIVIDE_BY_ZERO = 32'h08;  // DZ
  localparam int unsigned HU_FLAG_INVALID        = 32'h10;  // NV

  // Classes of hu_dpi_class, orders of hu_dpi_compare.
  typedef enum int {
    HU_CLASS_NAN = 0, HU_CLASS_NEGATIVE_INFINITY = 1, HU_CLASS_NEGATIVE_NORMAL = 2, HU_CLASS_NEGATIVE_SUBNORMAL = 3,
    HU_CLASS_NEGATIVE_ZERO = 4, HU_CLASS_POSITIVE_ZERO = 5, HU_CLASS_POSITIVE_SUBNORMAL = 6,
    HU_CLASS_POSITIVE_NORMAL = 7, HU_CLASS_POSITIVE_INFINITY = 8
  } hu_class_t;
  typedef enum int { HU_LESS = -1, HU_EQUAL = 0, HU_GREATER = 1, HU_UNORDERED = 2 } hu_order_t;

  // What hu_dpi_to_integer returns where the integer does not fit the type.
  typedef enum int { HU_INTEGER_RISCV = 0, HU_INTEGER_ARM = 1, HU_INTEGER_X86 = 2 } hu_integer_t;

  localparam int unsigned HU_NO_CODE = 32'hFFFF_FFFF;  // of hu_dpi_limits: the format has no such code

  // Rows of dot products as one number: element k of width w in bits k*w +: w, the rest 0. A narrower expression is
  // extended with zeros as SystemVerilog always does.
  localparam int HU_DPI_BUS = 2048;
  typedef bit [HU_DPI_BUS-1:0] hu_bus_t;
  /* verilator lint_on UNUSED */

  // ---- descriptions ----
  import "DPI-C" function int hu_dpi_format(input string text, output chandle handle, output int where);
  import "DPI-C" function int hu_dpi_mode(input string round, input string saturate, input string nan,
                                          input string tiny, input string nan_fma, output chandle handle);
  import "DPI-C" function int hu_dpi_model(input string model, input string a, input string b, input string c,
                                           input string d, output chandle handle, output int where, output int part);
  import "DPI-C" function int hu_dpi_takes(input string model, output chandle handle);
  import "DPI-C" function int hu_dpi_preset_count();
  import "DPI-C" function int hu_dpi_preset(input int i, output chandle handle);
  import "DPI-C" function void hu_dpi_free(input chandle handle);
  import "DPI-C" function string hu_dpi_name(input chandle handle);
  import "DPI-C" function string hu_dpi_status_name(input int status);
  import "DPI-C" function string hu_dpi_status_text(input int status);
  import "DPI-C" function void hu_dpi_exit(input int status);
  import "DPI-C" function int hu_dpi_width(input chandle handle);
  import "DPI-C" function int hu_dpi_depth(input chandle model);
  import "DPI-C" function int hu_dpi_limits(input chandle format, output int unsigned max,
                                            output int unsigned min_normal, output int unsigned min,
                                            output int unsigned inf, output int unsigned nan);

  // ---- one value ----
  import "DPI-C" function int hu_dpi_encode(input chandle fz, input chandle mode, input real x,
                                            input int unsigned random, output int unsigned z,
                                            output int unsigned events);
  import "DPI-C" function int hu_dpi_decode(input chandle fx, input int unsigned x, output real z);
  import "DPI-C" function int hu_dpi_convert(input chandle fz, input chandle mode, input chandle fx,
                                             input int unsigned x, input int unsigned random, output int unsigned z,
                                             output int unsigned events);
  import "DPI-C" function int hu_dpi_add(input chandle fz, input chandle mode, input chandle fa, input int unsigned a,
                                         input chandle fb, input int unsigned b, input int unsigned random,
                                         output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_sub(input chandle fz, input chandle mode, input chandle fa, input int unsigned a,
                                         input chandle fb, input int unsigned b, input int unsigned random,
                                         output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_mul(input chandle fz, input chandle mode, input chandle fa, input int unsigned a,
                                         input chandle fb, input int unsigned b, input int unsigned random,
                                         output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_div(input chandle fz, input chandle mode, input chandle fa, input int unsigned a,
                                         input chandle fb, input int unsigned b, input int unsigned random,
                                         output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_minimum(input chandle fz, input chandle mode, input chandle fa,
                                             input int unsigned a, input chandle fb, input int unsigned b,
                                             input int unsigned random, output int unsigned z,
                                             output int unsigned events);
  import "DPI-C" function int hu_dpi_maximum(input chandle fz, input chandle mode, input chandle fa,
                                             input int unsigned a, input chandle fb, input int unsigned b,
                                             input int unsigned random, output int unsigned z,
                                             output int unsigned events);
  import "DPI-C" function int hu_dpi_minimum_number(input chandle fz, input chandle mode, input chandle fa,
                                                    input int unsigned a, input chandle fb, input int unsigned b,
                                                    input int unsigned random, output int unsigned z,
                                                    output int unsigned events);
  import "DPI-C" function int hu_dpi_maximum_number(input chandle fz, input chandle mode, input chandle fa,
                                                    input int unsigned a, input chandle fb, input int unsigned b,
                                                    input int unsigned random, output int unsigned z,
                                                    output int unsigned events);
  import "DPI-C" function int hu_dpi_remainder(input chandle fz, input chandle mode, input chandle fa,
                                               input int unsigned a, input chandle fb, input int unsigned b,
                                               input int unsigned random, output int unsigned z,
                                               output int unsigned events);
  import "DPI-C" function int hu_dpi_sqrt(input chandle fz, input chandle mode, input chandle fx,
                                          input int unsigned x, input int unsigned random, output int unsigned z,
                                          output int unsigned events);
  import "DPI-C" function int hu_dpi_fma(input chandle fz, input chandle mode, input chandle fa, input int unsigned a,
                                         input chandle fb, input int unsigned b, input chandle fc,
                                         input int unsigned c, input int unsigned random, output int unsigned z,
                                         output int unsigned events);
  import "DPI-C" function int hu_dpi_round_to_integral(input chandle f, input chandle mode, input int unsigned x,
                                                       input int unsigned random, output int unsigned z,
                                                       output int unsigned events);
  import "DPI-C" function int hu_dpi_to_integer(input chandle mode, input int width, input int is_signed,
                                                input int invalid, input int exact, input chandle fx,
                                                input int unsigned x, input int unsigned random,
                                                output longint unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_from_signed(input chandle fz, input chandle mode, input longint x,
                                                 input int unsigned random, output int unsigned z,
                                                 output int unsigned events);
  import "DPI-C" function int hu_dpi_from_unsigned(input chandle fz, input chandle mode, input longint unsigned x,
                                                   input int unsigned random, output int unsigned z,
                                                   output int unsigned events);
  import "DPI-C" function int hu_dpi_compare(input chandle fa, input int unsigned a, input chandle fb,
                                             input int unsigned b, output int order);
  import "DPI-C" function int hu_dpi_class(input chandle fx, input int unsigned x, output int class_of_x);
  import "DPI-C" function int hu_dpi_is_signalling(input chandle fx, input int unsigned x, output int signalling);
  import "DPI-C" function int hu_dpi_next_up(input chandle fx, input int unsigned x, output int unsigned z);
  import "DPI-C" function int hu_dpi_next_down(input chandle fx, input int unsigned x, output int unsigned z);
  import "DPI-C" function int unsigned hu_dpi_flags(input int unsigned events);
  import "DPI-C" function int unsigned hu_dpi_word(input longint unsigned key, input longint unsigned counter);

  // ---- elementary functions, correctly rounded ----
  import "DPI-C" function int hu_dpi_exp(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                         input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_exp2(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                          input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_expm1(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                           input int unsigned random, output int unsigned z,
                                           output int unsigned events);
  import "DPI-C" function int hu_dpi_log(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                         input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_log2(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                          input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_log1p(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                           input int unsigned random, output int unsigned z,
                                           output int unsigned events);
  import "DPI-C" function int hu_dpi_tanh(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                          input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_sigmoid(input chandle fz, input chandle mode, input chandle fx,
                                             input int unsigned x, input int unsigned random, output int unsigned z,
                                             output int unsigned events);
  import "DPI-C" function int hu_dpi_erf(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                         input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_gelu(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                          input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_rsqrt(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                           input int unsigned random, output int unsigned z,
                                           output int unsigned events);
  import "DPI-C" function int hu_dpi_reciprocal(input chandle fz, input chandle mode, input chandle fx,
                                                input int unsigned x, input int unsigned random, output int unsigned z,
                                                output int unsigned events);
  import "DPI-C" function int hu_dpi_sin(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                         input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_cos(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                         input int unsigned random, output int unsigned z, output int unsigned events);
  import "DPI-C" function int hu_dpi_pow(input chandle fz, input chandle mode, input chandle fx, input int unsigned x,
                                         input chandle fy, input int unsigned y, input int unsigned random,
                                         output int unsigned z, output int unsigned events);

  // ---- dot products ----
  import "DPI-C" function int hu_dpi_dot(input chandle model, input chandle mode, input int n,
                                         input bit [HU_DPI_BUS-1:0] a, input bit [HU_DPI_BUS-1:0] b,
                                         input longint unsigned c, input bit [HU_DPI_BUS-1:0] sa,
                                         input bit [HU_DPI_BUS-1:0] sb, input bit [HU_DPI_BUS-1:0] words,
                                         input int unsigned random, output longint unsigned d,
                                         output int unsigned events);
  import "DPI-C" function int hu_dpi_dot_stream(input chandle model, input chandle mode, input int n,
                                                input bit [HU_DPI_BUS-1:0] a, input bit [HU_DPI_BUS-1:0] b,
                                                input longint unsigned c, input bit [HU_DPI_BUS-1:0] sa,
                                                input bit [HU_DPI_BUS-1:0] sb, input longint unsigned key,
                                                input longint unsigned counter, output longint unsigned d,
                                                output int unsigned events);
  import "DPI-C" function int hu_dpi_dot_array(input chandle model, input chandle mode, input int n,
                                               input longint unsigned a[], input longint unsigned b[],
                                               input longint unsigned c, input longint unsigned sa[],
                                               input longint unsigned sb[], input int unsigned words[],
                                               input int unsigned random, output longint unsigned d,
                                               output int unsigned events);
  import "DPI-C" function int hu_dpi_roundings(input chandle model, input int n, output int roundings);

  // ---- in the language's own terms ----

  // Reports a status that is not 0; returns 1 if it is.
  function automatic bit hu_check(int status, string what);
    /* verilator no_inline_task */
    if (status == 0) return 1;
    $error("halfulp: %s: %s (%s)", what, hu_dpi_status_text(status), hu_dpi_status_name(status));
    return 0;
  endfunction

  function automatic void hu_must(int status, string what, int where);
    /* verilator no_inline_task */
    if (status != 0)
      $fatal(1, "halfulp: %s: %s (%s, character %0d)", what, hu_dpi_status_text(status), hu_dpi_status_name(status),
             where + 1);
  endfunction

  // Makes a format by name or fp(e,m,b):suffixes.
  function automatic chandle hu_format(string text);
    /* verilator no_inline_task */
    chandle handle;
    int where;
    int status = hu_dpi_format(text, handle, where);
    hu_must(status, {"format '", text, "'"}, where);
    return handle;
  endfunction

  // Makes a mode: rounding (rne, ... as `halfulp help rounding` lists them), saturation (none finite propagate), NaN policy
  // (max zero error), tininess (after before), infinity times zero plus a NaN (quiet invalid).
  function automatic chandle hu_mode(string round, string saturate = "", string nan = "", string tiny = "",
                                     string nan_fma = "");
    /* verilator no_inline_task */
    chandle handle;
    int status = hu_dpi_mode(round, saturate, nan, tiny, nan_fma, handle);
    hu_must(status, {"mode '", round, "' '", saturate, "' '", nan, "' '", tiny, "' '", nan_fma, "'"}, 0);
    return handle;
  endfunction

  // Says what a model takes, "A float8_e4m3fn, B float8_e4m3fn, C binary32"; "" for any operands and for a wrong text.
  function automatic string hu_takes(string model);
    /* verilator no_inline_task */
    chandle handle;
    string text = "";
    if (hu_dpi_takes(model, handle) == 0) text = hu_dpi_name(handle);
    hu_dpi_free(handle);
    return text;
  endfunction

  // Makes a model of accumulation with the elements of A, B, D and C; "": those of a preset, or for C those of D. A
  // matrix unit takes only its own formats of A, B and C; any(MODEL) takes others.
  function automatic chandle hu_model(string model, string a = "", string b = "", string d = "", string c = "");
    /* verilator no_inline_task */
    chandle handle;
    int where, part;
    int status = hu_dpi_model(model, a, b, c, d, handle, where, part);
    string elements = "abcd", text = {"model '", model, "' on '", a, "', '", b, "', '", c, "', '", d, "'"}, takes = "";
    if (status != 0) takes = hu_takes(model);
    if (part != 0) text = {text, ", element ", elements.substr(part - 1, part - 1)};
    if (takes != "") text = {text, ", where it takes ", takes};
    if (part != 0 && {a, b, d} == "")
      text = {text, "; a model without formats of its own is given them: hu_model(model, a, b, d)"};
    hu_must(status, text, where);
    return handle;
  endfunction

  // Returns the exception flags of an operation of IEEE 754: those of its events, and invalid where an operand is a
  // signalling NaN. Operands that the operation does not have are left out.
  function automatic int unsigned hu_flags(int unsigned events, chandle fa = null, int unsigned a = 0,
                                           chandle fb = null, int unsigned b = 0, chandle fc = null,
                                           int unsigned c = 0);
    /* verilator no_inline_task */
    int x = 0, y = 0, z = 0;
    if (fa != null) void'(hu_check(hu_dpi_is_signalling(fa, a, x), "flags"));
    if (fb != null) void'(hu_check(hu_dpi_is_signalling(fb, b, y), "flags"));
    if (fc != null) void'(hu_check(hu_dpi_is_signalling(fc, c, z), "flags"));
    return hu_dpi_flags(events) | (x != 0 || y != 0 || z != 0 ? HU_FLAG_INVALID : 0);
  endfunction

  // Returns the words of a set of events.
  function automatic string hu_events_text(int unsigned events);
    /* verilator no_inline_task */
    string text = "";
    if (events == 0) return "none";
    if ((events & HU_EVENT_OVERFLOW) != 0) text = {text, " overflow"};
    if ((events & HU_EVENT_SATURATED) != 0) text = {text, " saturated"};
    if ((events & HU_EVENT_UNDERFLOW) != 0) text = {text, " underflow"};
    if ((events & HU_EVENT_TO_ZERO) != 0) text = {text, " to_zero"};
    if ((events & HU_EVENT_SUBNORMAL) != 0) text = {text, " subnormal"};
    if ((events & HU_EVENT_INEXACT) != 0) text = {text, " inexact"};
    if ((events & HU_EVENT_INVALID) != 0) text = {text, " invalid"};
    if ((events & HU_EVENT_NAN_IN) != 0) text = {text, " nan_in"};
    if ((events & HU_EVENT_INF_IN) != 0) text = {text, " inf_in"};
    if ((events & HU_EVENT_DIVIDE_BY_ZERO) != 0) text = {text, " divide_by_zero"};
    return text.substr(1, text.len() - 1);
  endfunction

endpackage
