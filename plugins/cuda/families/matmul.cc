// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "make.h"
#include "wrapped.h"

namespace backplane::cuda::families {
namespace {

// The class that sums in a type: matmul.cu has a narrow one for integers.
const char* summing_class(DType compute) {
  if (is_floating(compute)) return class_of(compute);
  return plugin::size_of(compute) == 8 ? "i64" : "i32";
}

class MatmulKernel final : public Kernel {
 public:
  MatmulKernel(std::shared_ptr<DeviceState> state, const KernelDesc& desc)
      : Kernel(std::move(state)), desc_(desc) {}

  Status build() override {
    DType type = DType::Bool;
    const plugin::Program& epilogue = desc_.epilogue;
    out_type_ = desc_.types[0];
    direct_ =
        epilogue.instruction_count == 0 ||
        (is_identity(epilogue, &type) && epilogue.input_types[0] == desc_.compute_type && type == out_type_);
    if (!direct_) {
      out_type_ = desc_.compute_type;
      BACKPLANE_TRY(make_elementwise(state_, elementwise_desc(epilogue), &epilogue_));
    }
    const bool same = desc_.types[1] == desc_.types[2];
    if (same && Cublas::takes(desc_.types[1], out_type_, desc_.compute_type) && state_->cublas != nullptr &&
        state_->cublas->available())
      cublas_ = state_->cublas.get();
    const std::string module = std::string("matmul_") + summing_class(desc_.compute_type);
    return find(module.c_str(), "matmul", &function_);
  }

  Status scratch(const LaunchArgs& args, uint64_t* bytes) override {
    const auto results = static_cast<uint64_t>(space_of(args, 0, args.rank - 1).count);
    *bytes = direct_ ? 0 : results * plugin::size_of(out_type_);
    return kOk;
  }

  Status run(Stream& stream, const LaunchArgs& args) override {
    const uint32_t k = args.rank - 1;
    const Operand out = direct_ ? args.operand(0) : scratch_operand(args, 0, space_of(args, 0, k));
    BACKPLANE_TRY(multiply(stream, args, out));
    if (direct_) return kOk;
    InnerLaunch inner(args, k);
    inner.add(args.operand(0));
    inner.add(out);
    for (uint32_t i = 1; i < desc_.epilogue.input_count; ++i) inner.add(args.operand(2 + i));
    inner.set_scalars(args.scalars, desc_.epilogue.scalar_count);
    return inner.run(*epilogue_, stream);
  }

 private:
  Status multiply(Stream& stream, const LaunchArgs& args, const Operand& out) {
    MatmulParams params = describe(args, out);
    Product product{};
    if (cublas_ != nullptr && as_product(params, &product))
      return cublas_->multiply(stream.handle(), product);
    constexpr int64_t kTile = 64;
    const int64_t tiles = ((params.m + kTile - 1) / kTile) * ((params.n + kTile - 1) / kTile);
    return stream.launch(function_, blocks(tiles * params.batch.count, 1), kBlockThreads, &params);
  }

  MatmulParams describe(const LaunchArgs& args, const Operand& out) const {
    const uint32_t m = args.rank - 3, n = m + 1, k = m + 2;
    const Operand& a = args.operand(1);
    const Operand& b = args.operand(2);
    MatmulParams params{};
    params.batch = space_of(args, 0, m);
    params.out = view_of(out, 0, m);
    params.a = view_of(a, 0, m);
    params.b = view_of(b, 0, m);
    params.m = args.shape[m];
    params.n = args.shape[n];
    params.k = args.shape[k];
    params.out_m = out.strides[m];
    params.out_n = out.strides[n];
    params.a_m = a.strides[m];
    params.a_k = a.strides[k];
    params.b_n = b.strides[n];
    params.b_k = b.strides[k];
    params.out_type = number(out_type_);
    params.a_type = number(desc_.types[1]);
    params.b_type = number(desc_.types[2]);
    params.compute_type = number(desc_.compute_type);
    return params;
  }

  // One batch dimension, or none, is what cuBLAS takes.
  bool as_product(const MatmulParams& params, Product* product) const {
    if (params.batch.rank > 1) return false;
    const bool batched = params.batch.rank == 1;
    const auto stride = [&](const View& view) { return batched ? view.strides[0] : int64_t{0}; };
    *product = {params.m,
                params.n,
                params.k,
                params.batch.count,
                {params.a.address, params.a_m, params.a_k, stride(params.a)},
                {params.b.address, params.b_k, params.b_n, stride(params.b)},
                {params.out.address, params.out_m, params.out_n, stride(params.out)},
                desc_.types[1],
                out_type_,
                (desc_.flags & plugin::kMatmulTf32) != 0};
    return Cublas::takes(*product);
  }

  const KernelDesc desc_;
  DType out_type_ = DType::Bool;  // what the product itself writes
  bool direct_ = false;           // no epilogue kernel is needed
  std::unique_ptr<Kernel> epilogue_;
  Cublas* cublas_ = nullptr;  // null where it is not used
  CUfunction function_ = nullptr;
};

}  // namespace

Status supports_matmul(const DeviceState&, const KernelDesc& desc) {
  if (desc.compute_type == DType::Bool) return plugin::unimplemented("a matrix product computed in bool");
  for (const DType type : desc.types)
    if (plugin::size_of(type) == 0) return plugin::unimplemented("a matrix product of this type");
  return desc.epilogue.instruction_count > 0 ? check_program(desc.epilogue) : kOk;
}

Status make_matmul(const std::shared_ptr<DeviceState>& state, const KernelDesc& desc, KernelPointer* kernel) {
  *kernel = std::make_unique<MatmulKernel>(state, desc);
  return (*kernel)->build();
}

}  // namespace backplane::cuda::families
