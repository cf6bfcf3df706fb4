// SPDX-License-Identifier: MIT
// A source of random digits: Fibonacci LFSR of x^16 + x^15 + x^13 + x^4 + 1, one step a word drawn.
module lfsr16 (
    input  logic        clk,
    input  logic        rst,
    input  logic        step,
    output logic [15:0] state
);
  always_ff @(posedge clk)
    if (rst) state <= 16'hace1;
    else if (step) state <= {state[14:0], state[15] ^ state[14] ^ state[12] ^ state[3]};
endmodule
