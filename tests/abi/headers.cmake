# SPDX-License-Identifier: Apache-2.0
# Makes copies of the plugin headers as they were, and as they may become; `include` is where today's are.

# Replaces `from`, which must be there, by `to` in a header below `root`.
function(abi_edit root header from to)
  set(file ${root}/backplane/plugin/${header})
  file(READ ${file} text)
  string(FIND "${text}" "${from}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "tests/abi: ${header} does not have: ${from}")
  endif()
  string(REPLACE "${from}" "${to}" text "${text}")
  file(WRITE ${file} "${text}")
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${include}/types.h ${include}/interfaces.h ${include}/plugin.h ${include}/base.h ${include}/kernels.h)
foreach(root oldest newer)
  file(REMOVE_RECURSE ${CMAKE_CURRENT_BINARY_DIR}/${root})
  file(COPY ${include} DESTINATION ${CMAKE_CURRENT_BINARY_DIR}/${root}/backplane)
endforeach()

# 0.0: before Device::processes.
set(root ${CMAKE_CURRENT_BINARY_DIR}/oldest)
abi_edit(${root} types.h "kAbiMinor = 1" "kAbiMinor = 0")
abi_edit(${root} interfaces.h "  virtual Status processes(ProcessInfo* first, uint32_t stride, uint32_t capacity,
                           uint32_t* count) noexcept = 0;
" "")
abi_edit(${root} base.h "  Status processes(ProcessInfo*, uint32_t, uint32_t, uint32_t* count) noexcept override {
    *count = 0;
    return unimplemented(\"a list of processes\");
  }
" "")

# 0.2, perhaps: everything that may grow has grown.
set(root ${CMAKE_CURRENT_BINARY_DIR}/newer)
abi_edit(${root} types.h "kAbiMinor = 1" "kAbiMinor = 2")
abi_edit(${root} types.h "  const char* extensions;" "  const char* extensions;\n  uint64_t grown = 1;\n  // ")
abi_edit(${root} types.h "  uint32_t memory_clock_mhz;" "  uint32_t memory_clock_mhz;\n  uint64_t grown = 2;")
abi_edit(${root} kernels.h "  const char* label;" "  const char* label;\n  uint64_t grown;\n  // ")
abi_edit(${root} kernels.h "  const struct SourceDesc* source;" "  const struct SourceDesc* source;\n  uint64_t grown;\n  // ")
abi_edit(${root} kernels.h "  int64_t strides[kMaxRank];" "  int64_t strides[kMaxRank];\n  uint64_t grown;\n  // ")
abi_edit(${root} plugin.h "  Status (*create)(const HostInfo* host, Backend** backend) noexcept;"
  "  Status (*create)(const HostInfo* host, Backend** backend) noexcept;\n  uint64_t grown = 3;")
abi_edit(${root} interfaces.h " protected:
  ~Device() = default;" "  virtual Status grown() noexcept { return kOk; }

 protected:
  ~Device() = default;")
abi_edit(${root} interfaces.h " protected:
  ~Backend() = default;" "  virtual Status grown() noexcept { return kOk; }

 protected:
  ~Backend() = default;")
