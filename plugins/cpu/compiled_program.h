// SPDX-License-Identifier: Apache-2.0
//
// A program as the CPU runs it: a list of loops over tiles that stay in the first-level cache.
#ifndef BACKPLANE_CPU_COMPILED_PROGRAM_H_
#define BACKPLANE_CPU_COMPILED_PROGRAM_H_

#include "cpu/program.h"
#include "cpu/vector_loops.h"

namespace backplane::cpu {

// Values are numbered: inputs, then scalars, then results.
inline constexpr int kFirstScalar = plugin::kMaxInputs;
inline constexpr int kFirstResult = plugin::kMaxInputs + plugin::kMaxScalars;
inline constexpr int kMaxValues = kFirstResult + plugin::kMaxInstructions;

// One instruction: exactly one of the functions is set.
struct Step {
  LoopFunction loop = nullptr;
  LoopFunction stream = nullptr;  // the loop that stores past the caches, if there is one
  MapFunction cast = nullptr;
  void (*iota)(void* out, int64_t first, int64_t n) = nullptr;
  MapFunction round = nullptr;  // afterwards, in place; null if not needed
  int arity = 0;
  uint8_t args[3] = {};  // values
};

// Whether the step can store an array at `out` past the caches.
bool can_stream(const Step& step, const void* out) noexcept;

class CompiledProgram {
 public:
  // `program` has passed check_program.
  explicit CompiledProgram(const plugin::Program& program);

  struct Run {
    const void* const* inputs;
    const int64_t* input_strides;  // in elements
    const plugin::Scalar* scalars;
    void* const* outputs;
    const int64_t* output_strides;
    int64_t first;   // index of the first point
    bool streaming;  // outputs whose stride is 1 are stored past the caches
  };
  void run(const Run& run, int64_t n) const noexcept;

  // A program of one instruction on whole arrays: its loop, or null.
  const Step* single() const noexcept { return single_ ? &steps_[0] : nullptr; }
  bool single_takes_splats() const noexcept { return single_takes_splats_; }
  // Fills kSplatBytes with the value of a scalar argument.
  void splat(void* place, int value, plugin::Scalar scalar) const noexcept;

  const plugin::Program& program() const noexcept { return program_; }
  // Points to a tile, a multiple of every vector's lanes.
  int64_t tile() const noexcept { return tile_; }
  // About how many float32 additions one point costs.
  int cost() const noexcept { return cost_; }

 private:
  struct Tile;
  void compile_step(int index);
  void assign_places();
  void drop_needless_rounding();
  void prepare_constants(Tile& tile, const Run& run, int64_t n) const;
  void set_constant(Tile& tile, int value, const void* bits, int64_t n) const;
  void load_inputs(Tile& tile, const Run& run, int64_t begin, int64_t n) const;
  void run_steps(Tile& tile, const Run& run, int64_t begin, int64_t n) const;
  void store_output(const Tile& tile, const Run& run, int output, int64_t begin, int64_t n) const;
  bool writes_directly(const Run& run) const;

  plugin::Program program_;
  Step steps_[plugin::kMaxInstructions];
  plugin::DType types_[kMaxValues] = {};
  uint8_t places_[kMaxValues] = {};    // of scratch memory, for each value
  bool needs_array_[kMaxValues] = {};  // a splat does not do
  bool needs_copy_[plugin::kMaxInputs] = {};
  int place_count_ = 0;
  int64_t place_bytes_ = 0;
  int64_t tile_ = 0;
  int direct_output_ = -1;  // whose value the last step makes, in memory form
  int cost_ = 0;
  bool single_ = false;
  bool single_takes_splats_ = false;
};

// The value of a typed scalar, and of an element in memory, in register form: at most 8 bytes.
uint64_t scalar_register(plugin::DType type, plugin::Scalar scalar) noexcept;
uint64_t element_register(plugin::DType type, const void* element) noexcept;

// log2 of the bytes of a register and of an element in memory.
int register_log2(plugin::DType type) noexcept;
int memory_log2(plugin::DType type) noexcept;

}  // namespace backplane::cpu

#endif  // BACKPLANE_CPU_COMPILED_PROGRAM_H_
