// SPDX-License-Identifier: MIT
// Part of check_t: which corners of the formats, and which cases of the sum and its rounding, the vectors met.

  // ---- corners of operands, C and D ----

  localparam int KINDS = 18;  // 9 with either sign
  string kind_name [KINDS / 2] = '{"0", "min subnormal", "subnormal", "max subnormal", "min normal", "normal", "max",
                                   "inf", "NaN"};
  string place_name [4] = '{"E4M3 operand", "E5M2 operand", "C", "D"};
  int unsigned top [3], low_normal [3], infinity [3], quiet [3];
  int place_hits [4][KINDS];

  function int kind_of(int f, int unsigned code);
    int unsigned sign = code >> (hu_bits[f] - 1) & 1, c = code & ((32'd1 << (hu_bits[f] - 1)) - 1), kind;
    if (c == 0) kind = 0;
    else if (infinity[f] != HU_NO_CODE && c == infinity[f]) kind = 7;
    else if (c > top[f]) kind = 8;
    else if (c == 1) kind = 1;
    else if (c < low_normal[f] - 1) kind = 2;
    else if (c == low_normal[f] - 1) kind = 3;
    else if (c == low_normal[f]) kind = 4;
    else if (c < top[f]) kind = 5;
    else kind = 6;
    return int'(2 * kind + sign);
  endfunction

  // What cannot be: E4M3 has no infinity, a NaN that comes out has no sign.
  function bit cannot_be(int place, int kind);
    return (place == 0 && kind / 2 == 7) || (place == 3 && kind == 17);
  endfunction

  // ---- cases of the sum ----

  typedef enum int {
    EXACT, BELOW_HALF, TIE_DOWN, TIE_UP, ABOVE_HALF, STICKY_DECIDES, TIE_SUBNORMAL, CARRY, INTO_NORMAL, TO_ZERO,
    OVER_PLUS, OVER_MINUS, CANCELS, CANCELS_NEARLY, CUT, C_CUT_OFF, NAN_GIVEN, INF_TIMES_0, INF_MINUS_INF,
    SR_UP, SR_DOWN, SR_OVERFLOW, SR_SUBNORMAL, ALL_LANES, CASES
  } case_t;
  string case_name [CASES] = '{
    "exact", "below half a step", "tie, down to even", "tie, up to even", "above half a step",
    "above half by the sticky bit alone", "tie between subnormals", "rounds up into the next binade",
    "rounds up from subnormal to normal", "not 0, rounds to 0", "overflow", "overflow, negative",
    "terms cancel to 0", "terms cancel by 8 binades and more", "digits cut in alignment", "C too small to be seen",
    "NaN given", "infinity times 0", "infinity minus infinity", "random digits round up", "random digits round down",
    "overflow by random digits", "random digits, subnormal", "no lane is 0"};
  int hits [CASES];
  int hu_bits [3];

  function void cover_start();
    for (int f = 0; f < 3; f++) begin
      int unsigned least;
      void'(hu_dpi_limits(format[f], top[f], low_normal[f], least, infinity[f], quiet[f]));
      hu_bits[f] = hu_dpi_width(format[f]);
    end
  endfunction

  function real magnitude(real x);
    return x < 0.0 ? -x : x;
  endfunction

  // The sum before its rounding, as a code of fp(8,23,0): which side of a tie, what the rounding did.
  function void cover_rounding(vector_t v, result_t r, int unsigned s);
    int lead = int'(s[30:23]) - 127, emin = 2 - (1 << (ACC_E - 1)), last = (lead < emin ? emin : lead) - ACC_M;
    int below = last - (lead - 23);
    longint unsigned significand = {40'd0, 1'b1, s[22:0]}, one = 64'd1 << below, part, half;
    int unsigned kept, ignored;
    bit up;
    if (below > 30) begin
      significand = 1;  // far below half a step
      below = 30;
      one = 64'd1 << 30;
    end
    part = significand & (one - 1);
    half = one >> 1;
    void'(hu_dpi_convert(acc, toward_zero, wide, s, 0, kept, ignored));
    up = kept[ACC-2:0] != r.d[ACC-2:0];
    if (part != 0 && r.d[ACC-2:0] == 0) hits[TO_ZERO]++;
    if (v.stochastic) begin
      if (part != 0 && up) hits[SR_UP]++;
      if (part != 0 && !up) hits[SR_DOWN]++;
      if (r.overflow) hits[SR_OVERFLOW]++;
      if (part != 0 && lead < emin) hits[SR_SUBNORMAL]++;
      return;
    end
    if (part == 0) hits[EXACT]++;
    else if (part < half) hits[BELOW_HALF]++;
    else if (part == half) hits[up ? TIE_UP : TIE_DOWN]++;
    else hits[ABOVE_HALF]++;
    if (part > half && (part & (half >> 1)) == 0) hits[STICKY_DECIDES]++;
    if (part == half && lead < emin) hits[TIE_SUBNORMAL]++;
    if (up && r.d[ACC_M-1:0] == 0 && !r.overflow) hits[r.d[ACC-2:ACC_M] == 1 ? INTO_NORMAL : CARRY]++;
    if (r.overflow) hits[s[31] ? OVER_MINUS : OVER_PLUS]++;
  endfunction

  // By the operands' values: what the terms do to each other.
  function void cover_terms(vector_t v, real total, bit cut);
    real c, term, most = 0.0, products = 0.0;
    bit full = 1;
    void'(hu_dpi_decode(acc, 32'(v.c), c));
    for (int k = 0; k < LANES; k++) begin
      term = magnitude(value_of(format[{1'b0, v.a_e5m2}], 32'(v.a[8*k+:8])) *
                       value_of(format[{1'b0, v.b_e5m2}], 32'(v.b[8*k+:8])));
      if (term > products) products = term;
      if (term == 0.0) full = 0;
    end
    most = magnitude(c) > products ? magnitude(c) : products;
    if (full) hits[ALL_LANES]++;
    if (total == 0.0 && most > 0.0) hits[CANCELS]++;
    if (total != 0.0 && magnitude(total) * 256.0 < most) hits[CANCELS_NEARLY]++;
    if (cut) hits[CUT]++;
    if (c != 0.0 && magnitude(c) * real'(64'd1 << (KEEP + 2)) < products) hits[C_CUT_OFF]++;
  endfunction

  function void cover_vector(vector_t v, result_t r);
    int unsigned events, s, whole;
    int pair = int'({v.a_e5m2, v.b_e5m2});
    real total;
    for (int k = 0; k < LANES; k++) begin
      place_hits[{1'b0, v.a_e5m2}][kind_of(int'(v.a_e5m2), 32'(v.a[8*k+:8]))]++;
      place_hits[{1'b0, v.b_e5m2}][kind_of(int'(v.b_e5m2), 32'(v.b[8*k+:8]))]++;
    end
    place_hits[2][kind_of(2, 32'(v.c))]++;
    place_hits[3][kind_of(2, 32'(r.d))]++;
    s = 32'(dot(sum[pair], rne, v, events));
    if (s[30:23] == 8'hff) begin
      if ((events & HU_EVENT_NAN_IN) != 0) hits[NAN_GIVEN]++;
      if ((events & HU_EVENT_INVALID) != 0) hits[inf_times_0(v) ? INF_TIMES_0 : INF_MINUS_INF]++;
      return;
    end
    whole = 32'(dot(exact[pair], to_odd, v, events));
    void'(hu_dpi_decode(wide, s, total));
    cover_terms(v, total, whole != s);
    if (s[30:0] != 0) cover_rounding(v, r, s);
  endfunction

  function bit inf_times_0(vector_t v);
    for (int k = 0; k < LANES; k++) begin
      if (v.a_e5m2 && v.a[8*k+:7] == 7'h7c && v.b[8*k+:7] == 0) return 1;
      if (v.b_e5m2 && v.b[8*k+:7] == 7'h7c && v.a[8*k+:7] == 0) return 1;
    end
    return 0;
  endfunction

  // ---- report ----

  function void cover_report();
    int all = 0, holes = 0;
    for (int p = 0; p < 4; p++) begin
      $display("coverage, %s:", place_name[p]);
      for (int k = 0; k < KINDS; k++)
        if (!cannot_be(p, k)) begin
          $display("  %s%-36s %0d%s", either(k % 2 == 1, "-", "+"), kind_name[k/2], place_hits[p][k],
                   either(place_hits[p][k] == 0, "  HOLE", ""));
          all++;
          if (place_hits[p][k] == 0) holes++;
        end
    end
    $display("coverage, sum and rounding:");
    for (int k = 0; k < CASES; k++) begin
      $display("  %-37s %0d%s", case_name[k], hits[k], either(hits[k] == 0, "  HOLE", ""));
      all++;
      if (hits[k] == 0) holes++;
    end
    $display("coverage: %0d bins, %0d holes", all, holes);
  endfunction
