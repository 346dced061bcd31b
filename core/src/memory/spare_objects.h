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
    if (head == nullptr) return ::operator new(size, std::nothrow);
    Piece* piece = head;
    head = piece->next;
    --count;
    return piece;
  }

  static void* take(size_t size) {
    void* memory = try_take(size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }

  static void give(void* memory) noexcept {
    if (count >= kMost) return ::operator delete(memory);
    if (!registered) [[unlikely]] {
      static_cast<void>(&cleaner);  // makes it, so that it runs when the thread ends
      registered = true;
    }
    head = new (memory) Piece{head};
    ++count;
  }

 private:
  struct Piece {
    Piece* next;
  };
  struct Cleaner {
    ~Cleaner() {
      while (head != nullptr) {
        Piece* next = head->next;
        ::operator delete(head);
        head = next;
      }
      count = kMost;  // what is dropped after this goes straight back
    }
  };

  static constexpr int kMost = 64;
  // Plain values, so that reaching them takes no call; the library is loaded at start or takes a few words of
  // the room kept for such.
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit Piece* head = nullptr;
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit int count = 0;
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit bool registered = false;
  static inline thread_local Cleaner cleaner;
};

}  // namespace backplane::internal

#endif  // BACKPLANE_SRC_MEMORY_SPARE_OBJECTS_H_
