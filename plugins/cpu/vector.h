// SPDX-License-Identifier: Apache-2.0
//
// The widest vector registers of the instruction set that the including file is compiled for, in the
// compilers' own vector types (g++ and clang++ alike). Only for files listed in backplane_cpu_vector_sources;
// everything is in an unnamed namespace, so that no symbol of one instruction set can stand in for another's.
#ifndef BACKPLANE_CPU_VECTOR_H_
#define BACKPLANE_CPU_VECTOR_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define BACKPLANE_INLINE inline __attribute__((always_inline))

namespace backplane::cpu::BACKPLANE_CPU_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int64_t kVectorBytes = 32;
#else
constexpr int64_t kVectorBytes = 16;
#endif

// kVectorBytes of T.
template <typename T>
struct VectorOf {
  using type __attribute__((vector_size(kVectorBytes))) = T;
};
template <typename T>
using Vector = typename VectorOf<T>::type;

template <typename T>
constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));

using Bytes = Vector<uint64_t>;

template <typename V>
BACKPLANE_INLINE V load(const void* address) {
  V value;
  __builtin_memcpy(&value, address, sizeof value);
  return value;
}
template <typename V>
BACKPLANE_INLINE void store(void* address, V value) {
  __builtin_memcpy(address, &value, sizeof value);
}
// `value` in every lane. Subtracting 0 changes no number, -0 included; adding it would.
template <typename T>
BACKPLANE_INLINE Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

// Floats as wide as a register's doubles, and their conversion: of the general one g++ 12 makes four
// instructions.
using HalfFloats __attribute__((vector_size(kVectorBytes / 2))) = float;
BACKPLANE_INLINE Vector<double> widen(HalfFloats v) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector<double>>(_mm512_cvtps_pd(reinterpret_cast<__m256>(v)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector<double>>(_mm256_cvtps_pd(reinterpret_cast<__m128>(v)));
#else
  return __builtin_convertvector(v, Vector<double>);
#endif
}

BACKPLANE_INLINE Bytes load_bytes(const char* address) { return load<Bytes>(address); }
BACKPLANE_INLINE void store_bytes(char* address, Bytes value) { store(address, value); }
BACKPLANE_INLINE Bytes broadcast_word(uint64_t word) { return Bytes{} + word; }

// `a` where it is greater, else `b`: what the instructions do of themselves.
template <typename V>
BACKPLANE_INLINE V greater_of(V a, V b) {
  return a > b ? a : b;
}
template <typename V>
BACKPLANE_INLINE V smaller_of(V a, V b) {
  return a < b ? a : b;
}
#if defined(__AVX512F__)
BACKPLANE_INLINE Vector<float> greater_of(Vector<float> a, Vector<float> b) {
  return reinterpret_cast<Vector<float>>(
      _mm512_max_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
}
BACKPLANE_INLINE Vector<float> smaller_of(Vector<float> a, Vector<float> b) {
  return reinterpret_cast<Vector<float>>(
      _mm512_min_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b)));
}
BACKPLANE_INLINE Vector<double> greater_of(Vector<double> a, Vector<double> b) {
  return reinterpret_cast<Vector<double>>(
      _mm512_max_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b)));
}
BACKPLANE_INLINE Vector<double> smaller_of(Vector<double> a, Vector<double> b) {
  return reinterpret_cast<Vector<double>>(
      _mm512_min_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b)));
}
#endif

// A store past the caches, to a multiple of kVectorBytes; ordered by stream_fence().
template <typename V>
BACKPLANE_INLINE void stream_store(void* address, V value) {
  static_assert(sizeof(V) == kVectorBytes);
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(address), reinterpret_cast<__m512i>(value));
#elif defined(__AVX2__)
  _mm256_stream_si256(static_cast<__m256i*>(address), reinterpret_cast<__m256i>(value));
#elif defined(__x86_64__)
  _mm_stream_si128(static_cast<__m128i*>(address), reinterpret_cast<__m128i>(value));
#else
  store(address, value);
#endif
}

BACKPLANE_INLINE void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace backplane::cpu::BACKPLANE_CPU_ISA

#endif  // BACKPLANE_CPU_VECTOR_H_
