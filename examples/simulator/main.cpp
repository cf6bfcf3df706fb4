// SPDX-License-Identifier: MIT
// Runs matrix instructions on the emulator's unit and on others, and compares the results bit for bit.
//
//   simulator UNIT...     UNIT: a model's text
#include "matrix_unit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

using namespace simulator;

static std::vector<tile> program() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<tile> tiles(200);
  hu_mode rne{};
  for (tile &x : tiles) {
    for (std::size_t i = 0; i < side * side; i++) {
      x.a[i] = static_cast<std::uint16_t>(hu_encode(hu_binary16(), rne, normal(random), 0, nullptr));
      x.b[i] = static_cast<std::uint16_t>(hu_encode(hu_binary16(), rne, normal(random), 0, nullptr));
      x.c[i] = normal(random);
    }
  }
  return tiles;
}

// Runs the program; `one` computes D of a tile. Returns all results, and nanoseconds for each element.
template <class Unit>
static std::vector<float> run(const std::vector<tile> &tiles, double &cost, Unit one) {
  std::vector<float> d(tiles.size() * side * side);
  auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < tiles.size(); i++) one(tiles[i], &d[i * side * side]);
  std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  cost = time.count() / static_cast<double>(d.size());
  return d;
}

static void report(const char *name, const std::vector<float> &d, const std::vector<float> &own, double cost) {
  std::size_t different = 0;
  double largest = 0;
  for (std::size_t i = 0; i < d.size(); i++) {
    different += std::memcmp(&d[i], &own[i], sizeof d[i]) != 0;
    largest = std::max(largest, std::fabs(double{d[i]} - double{own[i]}));
  }
  std::printf("%-20s %zu of %zu differ, by %.2g at most, %.0f ns an element\n", name, different, d.size(), largest,
              cost);
}

int main(int argc, char **argv) {
  try {
    const std::vector<matrix_unit> units(argv + 1, argv + argc);
    const std::vector<tile> tiles = program();
    double cost;
    const std::vector<float> own = run(tiles, cost, [](const tile &x, float *d) {
      for (std::size_t i = 0; i < side * side; i++)
        d[i] = emulated(side, x.a + i / side * side, x.b + i % side, side, x.c[i]);
    });
    report("the emulator", own, own, cost);
    for (std::size_t i = 0; i < units.size(); i++) {
      const std::vector<float> d = run(tiles, cost, [&](const tile &x, float *to) { units[i].run(x, to); });
      report(argv[i + 1], d, own, cost);
    }
  } catch (const std::exception &e) {
    std::fprintf(stderr, "simulator: %s\n", e.what());
    return 1;
  }
  return 0;
}
