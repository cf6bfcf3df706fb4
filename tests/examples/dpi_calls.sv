// SPDX-License-Identifier: MIT
// Every import of halfulp_dpi from SystemVerilog: vectors of `halfulp vectors` (test_dpi.py writes them) give the
// results and flags that the file has; what has no vectors is held against what these calls give.
module dpi_calls;
  import halfulp_dpi::*;

  int checked = 0, wrong = 0;
  chandle f[3], mode;

  // Counts a comparison.
  function automatic void same(string what, longint unsigned is, longint unsigned want);
    checked++;
    if (is == want) return;
    wrong++;
    if (wrong < 20) $display("%s: %h, wanted %h", what, is, want);
  endfunction

  // Lines A B C R Z FLAGS; operands that an operation does not have are 0.
  task automatic operation(string name, string path);
    int file = 0, status;
    int unsigned a, b, c, r, z, flags, is, events, flagged, n = 0;
    file = $fopen(path, "r");
    if (file == 0) $fatal(1, "%s: no such file", path);
    while ($fscanf(file, "%h %h %h %h %h %h\n", a, b, c, r, z, flags) == 6) begin
      case (name)
        "add": status = hu_dpi_add(f[1], mode, f[0], a, f[0], b, r, is, events);
        "sub": status = hu_dpi_sub(f[1], mode, f[0], a, f[0], b, r, is, events);
        "mul": status = hu_dpi_mul(f[1], mode, f[0], a, f[0], b, r, is, events);
        "div": status = hu_dpi_div(f[1], mode, f[0], a, f[0], b, r, is, events);
        "minimum": status = hu_dpi_minimum(f[1], mode, f[0], a, f[0], b, r, is, events);
        "maximum": status = hu_dpi_maximum(f[1], mode, f[0], a, f[0], b, r, is, events);
        "minimum_number": status = hu_dpi_minimum_number(f[1], mode, f[0], a, f[0], b, r, is, events);
        "maximum_number": status = hu_dpi_maximum_number(f[1], mode, f[0], a, f[0], b, r, is, events);
        "round_to_integral": status = hu_dpi_round_to_integral(f[0], mode, a, r, is, events);
        "exp": status = hu_dpi_exp(f[1], mode, f[0], a, r, is, events);
        "exp2": status = hu_dpi_exp2(f[1], mode, f[0], a, r, is, events);
        "expm1": status = hu_dpi_expm1(f[1], mode, f[0], a, r, is, events);
        "log": status = hu_dpi_log(f[1], mode, f[0], a, r, is, events);
        "log2": status = hu_dpi_log2(f[1], mode, f[0], a, r, is, events);
        "log1p": status = hu_dpi_log1p(f[1], mode, f[0], a, r, is, events);
        "tanh": status = hu_dpi_tanh(f[1], mode, f[0], a, r, is, events);
        "sigmoid": status = hu_dpi_sigmoid(f[1], mode, f[0], a, r, is, events);
        "erf": status = hu_dpi_erf(f[1], mode, f[0], a, r, is, events);
        "gelu": status = hu_dpi_gelu(f[1], mode, f[0], a, r, is, events);
        "rsqrt": status = hu_dpi_rsqrt(f[1], mode, f[0], a, r, is, events);
        "reciprocal": status = hu_dpi_reciprocal(f[1], mode, f[0], a, r, is, events);
        "sin": status = hu_dpi_sin(f[1], mode, f[0], a, r, is, events);
        "cos": status = hu_dpi_cos(f[1], mode, f[0], a, r, is, events);
        "pow": status = hu_dpi_pow(f[1], mode, f[0], a, f[0], b, r, is, events);
        "sqrt": status = hu_dpi_sqrt(f[1], mode, f[0], a, r, is, events);
        "fma": status = hu_dpi_fma(f[1], mode, f[0], a, f[0], b, f[0], c, r, is, events);
        default: status = hu_dpi_convert(f[1], mode, f[0], a, r, is, events);
      endcase
      void'(hu_check(status, name));
      case (name)
        "round_to_integral", "sqrt", "convert": flagged = hu_flags(events, f[0], a);
        "fma": flagged = hu_flags(events, f[0], a, f[0], b, f[0], c);
        default: flagged = hu_flags(events, f[0], a, f[0], b);  // operands that are not there are zeros
      endcase
      same(name, {flagged, is}, {flags, z});
      n++;
    end
    $fclose(file);
    if (n == 0) $fatal(1, "%s: no vectors", path);
  endtask

  // Invalid where a row or C holds a signalling NaN.
  function automatic int unsigned row_flags(chandle f, logic [63:0] a, logic [63:0] b, chandle fc, int unsigned c);
    int unsigned flags = hu_flags(0, fc, c);
    for (int k = 0; k < 4; k++) flags |= hu_flags(0, f, 32'(a[16*k+:16]), f, 32'(b[16*k+:16]));
    return flags;
  endfunction

  // Lines A B C D FLAGS of a preset with 4 products of 16 bits; lane 0 on the left.
  task automatic row(string preset, string path);
    chandle h = hu_model(preset), rne = hu_mode("rne"), half = hu_format("binary16"), single = hu_format("binary32");
    int file, n = 0;
    logic [63:0] a, b, a_bus, b_bus;
    longint unsigned c, d, is, is_array, is_stream, a_array[4], b_array[4], none[1];
    int unsigned words[1], events, same_events, flags;
    none[0] = 0;
    words[0] = 0;
    same("depth", 64'(hu_dpi_depth(h)), 4);
    file = $fopen(path, "r");
    if (file == 0) $fatal(1, "%s: no such file", path);
    while ($fscanf(file, "%h %h %h %h %h\n", a, b, c, d, flags) == 5) begin
      for (int k = 0; k < 4; k++) begin
        a_bus[16*k+:16] = a[16*(3-k)+:16];
        b_bus[16*k+:16] = b[16*(3-k)+:16];
        a_array[k] = 64'(a[16*(3-k)+:16]);
        b_array[k] = 64'(b[16*(3-k)+:16]);
      end
      void'(hu_check(hu_dpi_dot(h, rne, 4, hu_bus_t'(a_bus), hu_bus_t'(b_bus), c, '0, '0, '0, 0, is, events), "dot"));
      same("dot", is, d);
      same("dot, flags", 64'(hu_dpi_flags(events) | row_flags(half, a, b, single, 32'(c))), 64'(flags));
      void'(hu_check(hu_dpi_dot_stream(h, rne, 4, hu_bus_t'(a_bus), hu_bus_t'(b_bus), c, '0, '0, 1, 2, is_stream,
                                       same_events), "stream"));
      same("stream", is_stream, d);
      void'(hu_check(hu_dpi_dot_array(h, rne, 4, a_array, b_array, c, none, none, words, 0, is_array, same_events),
                     "array"));
      same("array", is_array, d);
      same("array, events", 64'(same_events), 64'(events));
      n++;
    end
    $fclose(file);
    if (n == 0) $fatal(1, "%s: no vectors", path);
    hu_dpi_free(h);
    hu_dpi_free(rne);
    hu_dpi_free(half);
    hu_dpi_free(single);
  endtask

  // Random steps by words of the bench's own: seq is a chain of fused multiply-adds.
  task automatic steps();
    chandle h = hu_model("seq(binary16,sra:8)", "binary16", "binary16", "binary16"), half = hu_format("binary16");
    chandle sra = hu_mode("sra:8"), rne = hu_mode("rne");
    int count;
    int unsigned x, events;
    logic [127:0] a, b, words;
    longint unsigned d;
    void'(hu_check(hu_dpi_roundings(h, 4, count), "roundings"));
    same("roundings", 64'(count), 4);
    for (int i = 0; i < 500; i++) begin
      for (int k = 0; k < 4; k++) begin
        a[16*k+:16] = 16'(hu_dpi_word(1, 64'(8 * i + k))) & 16'hbfff;
        b[16*k+:16] = 16'(hu_dpi_word(1, 64'(8 * i + k + 4))) & 16'hbfff;
        words[32*k+:32] = hu_dpi_word(2, 64'(4 * i + k));
      end
      x = 32'h3c00;
      for (int k = 0; k < 4; k++)
        void'(hu_check(hu_dpi_fma(half, sra, half, 32'(a[16*k+:16]), half, 32'(b[16*k+:16]), half, x,
                                  words[32*k+:32], x, events), "fma"));
      void'(hu_check(hu_dpi_dot(h, rne, 4, hu_bus_t'(a[63:0]), hu_bus_t'(b[63:0]), 64'h3c00, '0, '0,
                                hu_bus_t'(words), 0, d, events), "dot by words"));
      same("steps", d, 64'(x));
    end
  endtask

  // Integers, the remainder: cases of the standards, by hand.
  task automatic integers();
    chandle half = hu_format("binary16"), rne = hu_mode("rne"), rtz = hu_mode("rtz");
    int unsigned z, events;
    longint unsigned i;
    void'(hu_check(hu_dpi_to_integer(rne, 32, 1, HU_INTEGER_RISCV, 1, half, 32'hc100, 0, i, events), "to_integer"));
    same("-2.5", {hu_dpi_flags(events), i[31:0]}, {HU_FLAG_INEXACT, 32'hffff_fffe});
    void'(hu_check(hu_dpi_to_integer(rtz, 8, 0, HU_INTEGER_RISCV, 1, half, 32'h7c00, 0, i, events), "to_integer"));
    same("infinity", {hu_dpi_flags(events), i[31:0]}, {HU_FLAG_INVALID, 32'd255});
    void'(hu_check(hu_dpi_to_integer(rtz, 32, 1, HU_INTEGER_RISCV, 1, half, 32'h7e00, 0, i, events), "to_integer"));
    same("NaN, RISC-V", {hu_dpi_flags(events), i[31:0]}, {HU_FLAG_INVALID, 32'h7fff_ffff});
    void'(hu_check(hu_dpi_to_integer(rtz, 32, 1, HU_INTEGER_ARM, 1, half, 32'h7e00, 0, i, events), "to_integer"));
    same("NaN, Arm", {hu_dpi_flags(events), i[31:0]}, {HU_FLAG_INVALID, 32'd0});
    void'(hu_check(hu_dpi_to_integer(rtz, 32, 1, HU_INTEGER_X86, 1, half, 32'h7e00, 0, i, events), "to_integer"));
    same("NaN, x86", {hu_dpi_flags(events), i[31:0]}, {HU_FLAG_INVALID, 32'h8000_0000});
    same("no type", 64'(hu_dpi_to_integer(rtz, 65, 1, HU_INTEGER_ARM, 1, half, 0, 0, i, events) != 0), 1);
    void'(hu_check(hu_dpi_from_signed(half, rne, -64'sd2049, 0, z, events), "from_signed"));
    same("-2049", {hu_dpi_flags(events), z}, {HU_FLAG_INEXACT, 32'he800});
    void'(hu_check(hu_dpi_from_unsigned(half, rne, ~64'd0, 0, z, events), "from_unsigned"));
    same("2^64 - 1", {hu_dpi_flags(events), z}, {HU_FLAG_OVERFLOW | HU_FLAG_INEXACT, 32'h7c00});
    void'(hu_check(hu_dpi_remainder(half, rne, half, 32'h4500, half, 32'h4200, 0, z, events), "remainder"));
    same("5 rem 3", {hu_dpi_flags(events), z}, {32'd0, 32'hbc00});
  endtask

  task automatic others();
    int order, kind, where, part;
    int unsigned z, events, max, min_normal, min, inf, nan;
    real x;
    chandle bad, e4m3 = hu_format("float8_e4m3fn"), rne = hu_mode("rne", "finite");
    chandle half = hu_format("binary16");
    void'(hu_check(hu_dpi_encode(e4m3, rne, 1000.0, 0, z, events), "encode"));
    same("encode", 64'(z), 64'h7e);
    same("encode, events", 64'(events), 64'(HU_EVENT_OVERFLOW | HU_EVENT_SATURATED | HU_EVENT_INEXACT));
    void'(hu_check(hu_dpi_decode(e4m3, z, x), "decode"));
    same("decode", 64'($rtoi(x)), 448);
    void'(hu_check(hu_dpi_compare(e4m3, 32'h38, e4m3, 32'h39, order), "compare"));
    same("compare", 64'(order), 64'(HU_LESS));
    void'(hu_check(hu_dpi_class(e4m3, 32'h81, kind), "class"));
    same("class", 64'(kind), 64'(HU_CLASS_NEGATIVE_SUBNORMAL));
    void'(hu_check(hu_dpi_next_up(e4m3, 32'h38, z), "next_up"));
    same("next_up", 64'(z), 64'h39);
    void'(hu_check(hu_dpi_next_down(e4m3, 32'h38, z), "next_down"));
    same("next_down", 64'(z), 64'h37);
    void'(hu_check(hu_dpi_limits(e4m3, max, min_normal, min, inf, nan), "limits"));
    same("limits", {8'd0, max[7:0], min_normal[7:0], min[7:0], nan[7:0], inf[23:0]}, 64'h007e08017fffffff);
    same("width", 64'(hu_dpi_width(e4m3)), 8);
    same("status", 64'(hu_dpi_format("float9", bad, where) == -61), 1);
    same("model", 64'(hu_dpi_model("fp32", "binary16", "what", "", "binary16", bad, where, part) != 0 && part == 2), 1);
    same("mode", 64'(hu_dpi_mode("rnx", "", "", "", "", bad) == -60), 1);
    same("unit", 64'(hu_dpi_model("nv.volta.f16.f32", "", "binary32", "", "", bad, where, part)), -64'sd74);
    same("unit, element", 64'(part), 2);
    if (hu_takes("nv.volta.f16.f32") != "A binary16, B binary16, C binary32" || hu_takes("exact") != "") wrong++;
    same("any", 64'(hu_dpi_depth(hu_model("any(nv.volta.f16.f32)", "", "binary32"))), 4);
    same("flags", 64'(HU_FLAG_INEXACT | HU_FLAG_UNDERFLOW | HU_FLAG_OVERFLOW | HU_FLAG_DIVIDE_BY_ZERO |
                      HU_FLAG_INVALID), 64'(hu_dpi_flags(~0)));
    void'(hu_check(hu_dpi_is_signalling(half, 32'h7d00, kind), "signalling"));
    same("signalling", 64'(kind), 1);
    void'(hu_check(hu_dpi_fma(half, hu_mode("rne", "", "", "", "invalid"), half, 32'h7c00, half, 0, half, 32'h7e00, 0,
                              z, events), "fma"));
    same("nan_fma", {hu_dpi_flags(events), z}, {HU_FLAG_INVALID, 32'h7e00});
    same("nan_fma, text", 64'(hu_dpi_mode("rne", "", "", "", "loud", bad) == -60), 1);
    same("null", 64'(hu_dpi_decode(rne, 0, x) == -30), 1);
    if (hu_dpi_status_name(-30) != "HU_E_NULL" || hu_events_text(32'h24) != "underflow inexact") wrong++;
    same("presets", 64'(hu_dpi_preset_count() > 200), 1);
    for (int i = 0; i < hu_dpi_preset_count(); i++) begin
      void'(hu_check(hu_dpi_preset(i, bad), "preset"));
      same("preset", 64'(hu_dpi_name(bad) != "" && hu_dpi_depth(bad) > 0), 1);
      hu_dpi_free(bad);
    end
  endtask

  initial begin
    string folder = "", op = "";
    string names[$];
    names = '{"add", "sub", "mul", "div", "minimum", "maximum", "minimum_number", "maximum_number", "sqrt", "fma",
              "convert", "round_to_integral", "exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "sigmoid", "erf",
              "gelu", "rsqrt", "reciprocal", "sin", "cos", "pow"};
    void'($value$plusargs("folder=%s", folder));
    f[0] = hu_format("bfloat16");
    f[1] = hu_format("float8_e5m2");
    mode = hu_mode("srb:5", "none");
    foreach (names[i]) operation(names[i], {folder, "/", names[i], ".txt"});
    row("nv.volta.f16.f32", {folder, "/row.txt"});
    steps();
    integers();
    others();
    $display("%0d comparisons, %0d wrong", checked, wrong);
    hu_dpi_exit(wrong != 0 ? 1 : 0);
  end
endmodule
