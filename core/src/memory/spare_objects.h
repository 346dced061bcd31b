// SPDX-License-Identifier: Apache-2.0
//
// A thread's spare memory for one type of small object that every operator makes and drops: a few dozen
// pieces, handed out again without a lock. Objects may be dropped by another thread than the one that made
// them.
#ifndef BACKPLANE_SRC_MEMORY_SPARE_OBJECTS_H_
#define BACKPLANE_SRC_MEMORY_SPARE_OBJECTS_H_

#include <cstddef>
#include <new>

namespace backplane::internal {

template <typename T>
class SpareObjects {
 public:
  static void* try_take(size_t size) noexcept {
    if (head_ == nullptr) return ::operator new(size, std::nothrow);
    Piece* piece = head_;
    head_ = piece->next;
    --count_;
    return piece;
  }

  static void* take(size_t size) {
    void* memory = try_take(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }

  static void give(void* memory) noexcept {
    if (count_ >= kMost) return ::operator delete(memory);
    if (!registered_) [[unlikely]] {
      static_cast<void>(&cleaner_);  // makes it, so that it runs when the thread ends
      registered_ = true;
    }
    head_ = new (memory) Piece{head_};
    ++count_;
  }

 private:
  struct Piece {
    Piece* next;
  };
  struct Cleaner {
    ~Cleaner() {
      while (head_ != nullptr) {
        Piece* next = head_->next;
        ::operator delete(head_);
        head_ = next;
      }
      count_ = kMost;  // what is dropped after this goes straight back
    }
  };

  static constexpr int kMost = 64;
  // Plain values, so that reaching them takes no call; the library is loaded at start or takes a few words of
  // the room kept for such.
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit Piece* head_ = nullptr;
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit int count_ = 0;
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit bool registered_ = false;
  static inline thread_local Cleaner cleaner_;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_SPARE_OBJECTS_H_
