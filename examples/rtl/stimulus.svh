// SPDX-License-Identifier: MIT
// Part of check_t: where its vectors come from.

  // ---- directed vectors ----

  localparam int CORNERS = 24;
  int unsigned corner [3][CORNERS];

  function void find_corners();
    for (int f = 0; f < 3; f++) begin
      int unsigned max, min_normal, min, inf, nan, one, ignored, width = 32'(hu_dpi_width(format[f]));
      void'(hu_dpi_limits(format[f], max, min_normal, min, inf, nan));
      void'(hu_dpi_encode(format[f], rne, 1.0, 0, one, ignored));
      corner[f][0] = 0;
      corner[f][1] = min;
      corner[f][2] = min + 1;
      corner[f][3] = min_normal - 1;
      corner[f][4] = min_normal;
      corner[f][5] = one;
      corner[f][6] = one + 1;
      corner[f][7] = one + 2;
      corner[f][8] = max - 1;
      corner[f][9] = max;
      corner[f][10] = inf == HU_NO_CODE ? nan : inf;
      corner[f][11] = nan;
      for (int k = 0; k < CORNERS / 2; k++) corner[f][CORNERS/2+k] = corner[f][k] | 32'd1 << (width - 1);
    end
  endfunction

  localparam int CUBE = CORNERS * CORNERS * CORNERS, TIES = 30 * 62 * CORNERS;

  // Corners of A, B and C with one another in lane 0, for each pair of formats.
  function void corners(int i, output vector_t v);
    v = '0;
    {v.a_e5m2, v.b_e5m2} = 2'(i / CUBE);
    v.stochastic = i % 5 == 4;
    v.a[7:0] = corner[{1'b0, v.a_e5m2}][i % CORNERS][7:0];
    v.b[7:0] = corner[{1'b0, v.b_e5m2}][i / CORNERS % CORNERS][7:0];
    v.c = ACC'(corner[2][i / CORNERS / CORNERS % CORNERS]);
  endfunction

  // Ties and their neighbours: a power of two in lane 0, another of either sign in lane 1, on the corners of C.
  function void ties(int i, output vector_t v);
    int p = i / CORNERS / 62 + 1, q = i / CORNERS % 62;
    v = '0;
    {v.a_e5m2, v.b_e5m2} = 2'b11;
    v.a[15:0] = {q[0], 5'(q >> 1), 2'b00, 1'b0, 5'(p), 2'b00};
    v.b[15:0] = {8'h3c, p[0] ? {1'b0, 5'(q >> 1), 2'b00} : 8'h3c};
    v.c = ACC'(corner[2][i % CORNERS]);
  endfunction

  // ---- golden vectors: lines of `halfulp vectors dot` ----

  string folder = "";
  int golden_file = 0, golden_number = 0, golden_lines = 0;

  // The next of the files golden_A_B[_sra].txt; 0: there are no more.
  function bit golden_open();
    string name;
    if (folder == "" || golden_number == 8) return 0;
    name = $sformatf("%s/golden_%s_%s%s.txt", folder, either(golden_number[1], "e5m2", "e4m3"),
                     either(golden_number[0], "e5m2", "e4m3"), either(golden_number[2], "_sra", ""));
    golden_file = $fopen(name, "r");
    if (golden_file == 0) $fatal(1, "%s: no such file", name);
    golden_number++;
    golden_lines = 0;
    return 1;
  endfunction

  function bit golden(output vector_t v, output result_t want);
    logic [AB-1:0] a, b;
    logic [ACC-1:0] c, d;
    logic [31:0] word = 0;
    logic [7:0] flags;
    int fields = 0, number;
    while (fields != 5) begin
      if (golden_file == 0) begin
        if (!golden_open()) return 0;
      end
      number = golden_number - 1;
      if (number[2]) fields = $fscanf(golden_file, "%h %h %h %h %h %h\n", a, b, c, word, d, flags) - 1;
      else fields = $fscanf(golden_file, "%h %h %h %h %h\n", a, b, c, d, flags);
      if (fields == 5) break;
      if (golden_lines == 0) $fatal(1, "golden file %0d: no vectors", golden_number);
      $fclose(golden_file);
      golden_file = 0;
    end
    golden_lines++;
    v = '0;
    {v.stochastic, v.a_e5m2, v.b_e5m2} = number[2:0];
    v.a = first_lane_first(a);
    v.b = first_lane_first(b);
    v.c = c;
    v.random = word[RANDOM-1:0];
    want.d = d;
    want.overflow = flags[2];
    want.underflow = flags[1];
    want.inexact = flags[0];
    want.invalid = flags[4];
    return 1;
  endfunction

  // ---- random vectors ----

  // Kinds: any codes; few lanes; exponents close to each other; C that nearly undoes the products.
  function void random_vector(longint unsigned seed, int i, output vector_t v);
    int unsigned word = draw(seed, i, 0), events;
    int kind = int'(word[1:0]);
    v = '0;
    {v.stochastic, v.a_e5m2, v.b_e5m2} = {word[4:2] == 0, word[6:5]};
    v.c = ACC'(draw(seed, i, 1));
    for (int k = 0; k < LANES; k++) begin
      int unsigned x = draw(seed, i, k + 2);
      if (kind == 1 && x[31:30] != 0) x = 0;
      if (kind >= 2) x = x & 32'h0f0f | 32'h3030;
      if (kind >= 2) x = x ^ (draw(seed, i, k + 2) & 32'h8080);
      v.a[8*k+:8] = x[7:0];
      v.b[8*k+:8] = x[15:8];
    end
    if (kind == 3) begin
      v.c = '0;
      v.c = ACC'(dot(model[{v.a_e5m2, v.b_e5m2}], toward_zero, v, events)) ^ ACC'(1 << (ACC - 1));
      v.c = v.c + ACC'(word[8:7]);
    end
  endfunction

  // ---- all of them ----

  // Vector i of a group and what the unit has to make of it; 0: there are no more. Where digits are to be random they
  // are `random`, the unit's own source's.
  function bit next(group_t group, longint unsigned seed, int count, int i, logic [RANDOM-1:0] random,
                    output vector_t v, output result_t want);
    if (group == GOLDEN) return golden(v, want);
    if (i >= (group == DIRECTED ? 4 * CUBE + TIES : 4 * count)) return 0;
    if (group == RANDOMS) random_vector(seed, i, v);
    else if (i < 4 * CUBE) corners(i, v);
    else ties(i - 4 * CUBE, v);
    v.random = v.stochastic ? random : '0;
    want = reference(v);
    cover_vector(v, want);
    return 1;
  endfunction

  // Rows of four blocks: block number `block` of row i, on the D before it.
  function void row_block(longint unsigned seed, int i, int block, logic [ACC-1:0] c, output vector_t v);
    v = '0;
    {v.a_e5m2, v.b_e5m2} = 2'(i);
    for (int k = 0; k < LANES; k++) begin
      v.a[8*k+:8] = 8'(draw(seed, i, 2000 + LANES * block + k)) & 8'hbf | 8'h10;
      v.b[8*k+:8] = 8'(draw(seed, i, 3000 + LANES * block + k)) & 8'hbf | 8'h10;
    end
    v.c = c;
  endfunction

  // What the model gives for the whole row.
  function logic [ACC-1:0] row(longint unsigned seed, int i);
    longint unsigned a [4*LANES], b [4*LANES], none [1], d;
    int unsigned words [1], events;
    vector_t v;
    none[0] = 0;
    words[0] = 0;
    for (int block = 0; block < 4; block++) begin
      row_block(seed, i, block, '0, v);
      for (int k = 0; k < LANES; k++) begin
        a[LANES*block+k] = 64'(v.a[8*k+:8]);
        b[LANES*block+k] = 64'(v.b[8*k+:8]);
      end
    end
    void'(hu_check(hu_dpi_dot_array(chain[2'(i)], rne, 4 * LANES, a, b, 0, none, none, words, 0, d, events), "row"));
    return ACC'(d);
  endfunction
