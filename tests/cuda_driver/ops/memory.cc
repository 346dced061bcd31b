// SPDX-License-Identifier: Apache-2.0
// ld, ldu, st, and the cache hints that change nothing here.
#include <cstring>

#include "ops/access.h"

namespace cuda_double {
namespace {

constexpr int kMaxVector = 8;

// Finds the bytes behind addresses, remembering where the last ones were.
template <Space kSpace>
class Finder {
 public:
  Finder(Warp& warp, const Instr& instr, uint32_t size, bool write)
      : warp_(warp), instr_(instr), size_(size), write_(write) {
    Block& block = *warp.block;
    if constexpr (kSpace == Space::kShared) {
      host_ = block.shared.data();
      limit_ = block.shared_size;
    } else if constexpr (kSpace == Space::kLocal) {
      limit_ = block.local_stride;
    } else if constexpr (kSpace == Space::kParam) {
      host_ = const_cast<uint8_t*>(block.launch->parameters.data());
      limit_ = write ? 0 : block.launch->parameters.size();
    } else {
      refresh_translations(block);
      use(block.translations[0]);
    }
  }

  [[gnu::always_inline]] uint8_t* operator()(int lane, uint64_t address) {
    if ((address & (size_ - 1)) == 0) {
      const uint64_t offset = address - base_;
      if (offset < limit_ && limit_ - offset >= size_) {
        if constexpr (kSpace == Space::kLocal) return warp_.block->local_memory(warp_, lane) + offset;
        return host_ + offset;
      }
      if constexpr (kSpace == Space::kGlobal || kSpace == Space::kGeneric) {
        for (const Translation& entry : warp_.block->translations) {
          const uint64_t inside = address - entry.base;
          if (inside >= entry.size || entry.size - inside < size_) continue;
          use(entry);
          return host_ + inside;
        }
      }
    }
    return locate(warp_, instr_, lane, kSpace, address, size_, write_).host;
  }

  // Where all 32 lanes may use one place without further ado, its bytes, of which lane i's are at
  // `addresses[i]` less base(); else null.
  uint8_t* common(const uint64_t (&addresses)[kLanes]) {
    if constexpr (kSpace == Space::kLocal) return nullptr;
    (*this)(0, addresses[0]);
    if (limit_ < size_) return nullptr;
    const uint64_t base = base_, last = limit_ - size_, mask = size_ - 1;
    uint64_t wrong = 0;
    for (int lane = 0; lane < kLanes; ++lane)
      wrong |= (addresses[lane] & mask) | (addresses[lane] - base > last);
    return wrong == 0 ? host_ : nullptr;
  }
  uint64_t base() const { return base_; }

 private:
  void use(const Translation& entry) {
    base_ = entry.base;
    limit_ = entry.size;
    host_ = entry.host;
  }

  Warp& warp_;
  const Instr& instr_;
  const uint32_t size_;
  const bool write_;
  uint64_t base_ = 0, limit_ = 0;
  uint8_t* host_ = nullptr;
};

[[gnu::always_inline]] inline void gather_addresses(Warp& warp, const Instr& instr,
                                                    uint64_t (&addresses)[kLanes]) {
  const auto offset = static_cast<uint64_t>(instr.imm);
  if (instr.flag) {
    const uint64_t* base = warp.at<uint64_t>(instr.a);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = base[lane] + offset;
  } else {
    const uint32_t* base = warp.at<uint32_t>(instr.a);
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = base[lane] + offset;
  }
}

template <class M>
M read(const uint8_t* bytes) {
  M value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class M, class R>
void load_checked(Warp& warp, const Instr& instr, Space space) {
  const uint32_t size = sizeof(M) * instr.count;
  for_lanes(warp.mask, [&](int lane) {
    const AccessTarget target =
        locate(warp, instr, lane, space, lane_address(warp, instr, lane), size, false);
    check_access(warp, instr, lane, target, size, Access::kRead, nullptr);
    M values[kMaxVector];
    std::memcpy(values, target.host, size);
    for (int i = 0; i < instr.count; ++i) warp.at<R>(instr.list[i])[lane] = static_cast<R>(values[i]);
  });
}

bool same_for_all(uint32_t mask, const uint64_t (&addresses)[kLanes]) {
  const uint64_t first = addresses[__builtin_ctz(mask)];
  uint64_t different = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    different |= (addresses[lane] ^ first) & (uint64_t{0} - (mask >> lane & 1));
  return different == 0;
}

// One value for every lane.
template <class M, class R>
void broadcast(Warp& warp, const Instr& instr, const uint8_t* bytes) {
  for (int i = 0; i < instr.count; ++i) {
    R* dst = warp.at<R>(instr.list[i]);
    const R value = static_cast<R>(read<M>(bytes + i * sizeof(M)));
    for_lanes(warp.mask, [=](int lane) { dst[lane] = value; });
  }
}

template <Space kSpace, class M, class R>
void load(Warp& warp, const Instr& instr) {
  if (warp.block->launch->checks.any()) return load_checked<M, R>(warp, instr, kSpace);
  uint64_t addresses[kLanes];
  gather_addresses(warp, instr, addresses);
  Finder<kSpace> find(warp, instr, sizeof(M) * instr.count, false);
  if constexpr (kSpace == Space::kParam) {
    const int first = __builtin_ctz(warp.mask);
    if (same_for_all(warp.mask, addresses))
      return broadcast<M, R>(warp, instr, find(first, addresses[first]));
  }
  if (instr.count == 1) {
    R* dst = warp.at<R>(instr.list[0]);
    if (const uint8_t* bytes = warp.mask == kFullMask ? find.common(addresses) : nullptr) {
      const uint64_t base = find.base();
      for (int lane = 0; lane < kLanes; ++lane)
        dst[lane] = static_cast<R>(read<M>(bytes + (addresses[lane] - base)));
      return;
    }
    for_lanes(warp.mask, [&](int lane) { dst[lane] = static_cast<R>(read<M>(find(lane, addresses[lane]))); });
    return;
  }
  R* dst[kMaxVector];
  for (int i = 0; i < instr.count; ++i) dst[i] = warp.at<R>(instr.list[i]);
  for_lanes(warp.mask, [&](int lane) {
    const uint8_t* bytes = find(lane, addresses[lane]);
    M values[kMaxVector];  // a register may be both address and destination
    for (int i = 0; i < instr.count; ++i) values[i] = read<M>(bytes + i * sizeof(M));
    for (int i = 0; i < instr.count; ++i) dst[i][lane] = static_cast<R>(values[i]);
  });
}

template <class M, class R>
void store_checked(Warp& warp, const Instr& instr, Space space) {
  const uint32_t size = sizeof(M) * instr.count;
  for_lanes(warp.mask, [&](int lane) {
    M values[kMaxVector];
    for (int i = 0; i < instr.count; ++i) values[i] = static_cast<M>(warp.at<R>(instr.list[i])[lane]);
    const AccessTarget target = locate(warp, instr, lane, space, lane_address(warp, instr, lane), size, true);
    check_access(warp, instr, lane, target, size, Access::kWrite, values);
    std::memcpy(target.host, values, size);
  });
}

template <class M, class R>
void write(uint8_t* bytes, R value) {
  const M narrow = static_cast<M>(value);
  std::memcpy(bytes, &narrow, sizeof narrow);
}

template <Space kSpace, class M, class R>
void store(Warp& warp, const Instr& instr) {
  if (warp.block->launch->checks.any()) return store_checked<M, R>(warp, instr, kSpace);
  uint64_t addresses[kLanes];
  gather_addresses(warp, instr, addresses);
  Finder<kSpace> find(warp, instr, sizeof(M) * instr.count, true);
  if (instr.count == 1) {
    const R* src = warp.at<R>(instr.list[0]);
    if (uint8_t* bytes = warp.mask == kFullMask ? find.common(addresses) : nullptr) {
      const uint64_t base = find.base();
      for (int lane = 0; lane < kLanes; ++lane) write<M>(bytes + (addresses[lane] - base), src[lane]);
      return;
    }
    for_lanes(warp.mask, [&](int lane) { write<M>(find(lane, addresses[lane]), src[lane]); });
    return;
  }
  for_lanes(warp.mask, [&](int lane) {
    uint8_t* bytes = find(lane, addresses[lane]);
    for (int i = 0; i < instr.count; ++i) write<M>(bytes + i * sizeof(M), warp.at<R>(instr.list[i])[lane]);
  });
}

// A kernel's parameter at a constant address: the same for every lane.
template <class M, class R>
void load_parameter(Warp& warp, const Instr& instr) {
  const auto offset = static_cast<uint64_t>(instr.imm);
  const int first = __builtin_ctz(warp.mask);
  broadcast<M, R>(warp, instr,
                  locate(warp, instr, first, Space::kParam, offset, sizeof(M) * instr.count, false).host);
}

using BySpace = Handler[6];  // generic, global and const, shared, local, param, param at a constant address

template <class M, class R>
constexpr BySpace kLoads = {load<Space::kGeneric, M, R>, load<Space::kGlobal, M, R>,
                            load<Space::kShared, M, R>,  load<Space::kLocal, M, R>,
                            load<Space::kParam, M, R>,   load_parameter<M, R>};
template <class M, class R>
constexpr BySpace kStores = {store<Space::kGeneric, M, R>, store<Space::kGlobal, M, R>,
                             store<Space::kShared, M, R>, store<Space::kLocal, M, R>,
                             store<Space::kParam, M, R>};

template <class M>
Handler pick_load(uint8_t register_size, int space) {
  switch (register_size) {
    case 2:
      if constexpr (sizeof(M) <= 2)
        return kLoads<M, std::conditional_t<std::is_signed_v<M>, int16_t, uint16_t>>[space];
      return nullptr;
    case 4:
      if constexpr (sizeof(M) <= 4)
        return kLoads<M, std::conditional_t<std::is_signed_v<M>, int32_t, uint32_t>>[space];
      return nullptr;
    default:
      return kLoads<M, std::conditional_t<std::is_signed_v<M>, int64_t, uint64_t>>[space];
  }
}

template <class M>
Handler pick_store(uint8_t register_size, int space) {
  switch (register_size) {
    case 2:
      if constexpr (sizeof(M) <= 2) return kStores<M, uint16_t>[space];
      return nullptr;
    case 4:
      if constexpr (sizeof(M) <= 4) return kStores<M, uint32_t>[space];
      return nullptr;
    default:
      return kStores<M, uint64_t>[space];
  }
}

Handler pick(Type type, uint8_t register_size, int space, bool write) {
  const bool is_signed = info(type).kind == TypeKind::kSigned && !write;
  switch (info(type).size) {
    case 1:
      return write       ? pick_store<uint8_t>(register_size, space)
             : is_signed ? pick_load<int8_t>(register_size, space)
                         : pick_load<uint8_t>(register_size, space);
    case 2:
      return write       ? pick_store<uint16_t>(register_size, space)
             : is_signed ? pick_load<int16_t>(register_size, space)
                         : pick_load<uint16_t>(register_size, space);
    case 4:
      return write       ? pick_store<uint32_t>(register_size, space)
             : is_signed ? pick_load<int32_t>(register_size, space)
                         : pick_load<uint32_t>(register_size, space);
    case 8:
      return write       ? pick_store<uint64_t>(register_size, space)
             : is_signed ? pick_load<int64_t>(register_size, space)
                         : pick_load<uint64_t>(register_size, space);
    default:
      return nullptr;
  }
}

int space_column(Space space) {
  switch (space) {
    case Space::kGeneric:
      return 0;
    case Space::kGlobal:
    case Space::kConst:
      return 1;
    case Space::kShared:
      return 2;
    case Space::kLocal:
      return 3;
    case Space::kParam:
      return 4;
  }
  return 0;
}

// A register at least as wide as `type`, or a literal.
uint32_t element_slot(Decoding& decoding, const Operand& operand, Type type, uint8_t& size, bool write) {
  if (operand.kind != Operand::Kind::kRegister) {
    const Type bits = info(type).size == 1 ? Type::kB16 : type;
    size = info(bits).size;
    if (!write) return decoding.destination(operand, bits);
    const bool half = info(type).size == 2;
    return decoding.source(operand, half ? Type::kB16 : bits);
  }
  const Type have = decoding.builder.register_type(operand.reg);
  if (have == Type::kPred || info(have).size < info(type).size)
    decoding.fail("a register that is too narrow");
  if (info(have).size == 1) decoding.fail("an 8-bit register; ld and st take 16 bits or more here");
  size = info(have).size;
  return decoding.builder.register_slot(operand.reg);
}

void skip_hints(Decoding& decoding) {
  decoding.ignore(
      {"volatile", "weak", "relaxed", "acquire", "release", "mmio", "nc", "cta", "cluster", "gpu", "sys"});
  decoding.ignore({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal", "L1::evict_unchanged",
                   "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B",
                   "L2::256B"});
}

void decode_access(Decoding& decoding, bool write) {
  Space space = take_access_space(decoding);
  skip_hints(decoding);
  const int vector = decoding.choose({"v2", "v4", "v8"});
  const Type type = decoding.type();
  if (type == Type::kPred || info(type).size > 8) decoding.fail("not a type that memory holds");
  decoding.expect_operands(2, 2);
  if (write && space == Space::kConst) decoding.fail("constant memory cannot be written");
  space = decode_address_operand(decoding, decoding.operand(write ? 0 : 1), space);
  const Operand& value = decoding.operand(write ? 1 : 0);
  const std::vector<Operand> single{value};
  const std::vector<Operand>& elements = vector < 0 ? single : value.items;
  if (elements.size() != (vector < 0 ? 1u : 2u << vector)) decoding.fail("a vector of the wrong length");
  std::vector<uint32_t> slots;
  uint8_t size = 0;
  for (const Operand& element : elements) {
    uint8_t this_size = 0;
    slots.push_back(element_slot(decoding, element, type, this_size, write));
    if (size != 0 && size != this_size) decoding.fail("registers of different widths");
    size = this_size;
  }
  decoding.list(std::move(slots));
  const bool constant_parameter = space == Space::kParam && !write && decoding.operand(1).reg < 0;
  decoding.instr.run = pick(type, size, constant_parameter ? 5 : space_column(space), write);
}

void decode_ld(Decoding& decoding) { decode_access(decoding, false); }
void decode_st(Decoding& decoding) { decode_access(decoding, true); }

void nothing(Warp&, const Instr&) {}

void decode_hint(Decoding& decoding) {
  take_access_space(decoding);
  decoding.ignore({"L1", "L2", "L2::evict_last", "L2::evict_normal", "L2::128B"});
  decoding.instr.run = nothing;
}

constexpr OpcodeRow kRows[] = {
    {"ld", decode_ld},
    {"ldu", decode_ld},
    {"st", decode_st},
    {"prefetch", decode_hint},
    {"prefetchu", decode_hint},
    {"discard", decode_hint},
    {"applypriority", decode_hint},
};

}  // namespace

std::span<const OpcodeRow> memory_opcodes() { return kRows; }

}  // namespace cuda_double
