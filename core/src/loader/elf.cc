// SPDX-License-Identifier: Apache-2.0
//
// Structures and constants: System V ABI, chapters 4 and 5, and for DT_GNU_HASH the description in binutils.
#include "loader/elf.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace backplane::internal {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr uint32_t kRelative = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr uint32_t kRelative = R_AARCH64_RELATIVE;
#else
#error "Backplane runs on x86-64 and aarch64"
#endif

// Bounds on what a sound file has, so that a hostile one costs little.
constexpr uint16_t kMaxSegments = 256;
constexpr uint64_t kMaxDynamicEntries = 4096;
constexpr uint32_t kMaxChain = 1u << 16;
constexpr size_t kMaxName = 4096;
constexpr uint64_t kMaxRelocations = 1u << 22;

struct Malformed {
  std::string cause;
};

std::string machine_name(uint16_t machine) {
  struct Row {
    uint16_t machine;
    const char* name;
  };
  constexpr Row kRows[] = {{EM_386, "i386"},        {EM_X86_64, "x86-64"}, {EM_ARM, "arm"},
                           {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv"},   {EM_PPC64, "ppc64"},
                           {EM_S390, "s390"},       {EM_MIPS, "mips"},     {EM_LOONGARCH, "loongarch"}};
  for (const Row& row : kRows)
    if (row.machine == machine) return row.name;
  return fmt::format("machine {}", machine);
}

// The hash functions of DT_GNU_HASH and DT_HASH.
uint32_t gnu_hash(std::string_view name) noexcept {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<uint8_t>(c);
  return hash;
}

uint32_t sysv_hash(std::string_view name) noexcept {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<uint8_t>(c);
    hash = (hash ^ ((hash & 0xf0000000) >> 24)) & 0x0fffffff;
  }
  return hash;
}

struct Segment {
  uint64_t address;
  uint64_t offset;
  uint64_t file_bytes;
  uint64_t memory_bytes;
};

struct Table {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

class Parser {
 public:
  Parser(const ReadAt& read, uint64_t size) : read_(read), size_(size) {}

  void parse(const ElfQuery& query, ElfFile& file) {
    read_header();
    read_segments();
    read_dynamic(file);
    if (query.symbol == nullptr) return;
    if (const std::optional<Elf64_Sym> symbol = find(query.symbol)) describe(*symbol, query, file);
  }

 private:
  void copy(uint64_t offset, void* to, size_t bytes) const {
    if (offset > size_ || bytes > size_ - offset)
      throw Malformed{"truncated: it refers to bytes past its end"};
    if (!read_(offset, to, bytes)) throw Malformed{"it cannot be read"};
  }

  template <typename T>
  T at_offset(uint64_t offset) const {
    T value;
    copy(offset, &value, sizeof value);
    return value;
  }

  // Where the bytes of a piece of the program's memory are in the file, if all of them are.
  std::optional<uint64_t> find_offset(uint64_t address, uint64_t bytes) const noexcept {
    for (const Segment& segment : segments_) {
      if (address < segment.address) continue;
      const uint64_t within = address - segment.address;
      if (within <= segment.file_bytes && bytes <= segment.file_bytes - within)
        return segment.offset + within;
    }
    return std::nullopt;
  }

  uint64_t offset_of(uint64_t address, uint64_t bytes, const char* what) const {
    if (const auto offset = find_offset(address, bytes)) return *offset;
    throw Malformed{fmt::format("malformed: its {} lies outside its segments", what)};
  }

  template <typename T>
  T at_address(uint64_t address, const char* what) const {
    return at_offset<T>(offset_of(address, sizeof(T), what));
  }

  void read_header();
  void read_segments();
  void read_dynamic(ElfFile& file);
  std::string text(uint64_t address, uint64_t limit, const char* what) const;
  std::string string_at(uint64_t index) const;
  std::optional<Elf64_Sym> find(const char* name) const;
  std::optional<Elf64_Sym> find_by_gnu_hash(const char* name) const;
  std::optional<Elf64_Sym> find_by_sysv_hash(const char* name) const;
  std::optional<Elf64_Sym> symbol_if_named(uint32_t index, const char* name) const;
  void describe(const Elf64_Sym& symbol, const ElfQuery& query, ElfFile& file) const;
  std::optional<uint64_t> pointer_at(uint64_t address) const;

  const ReadAt& read_;
  const uint64_t size_;
  Elf64_Ehdr header_{};
  std::vector<Segment> segments_;
  std::optional<Table> dynamic_;
  Table strings_, relocations_;
  uint64_t symbols_ = 0, gnu_hash_ = 0, sysv_hash_ = 0;
};

void Parser::read_header() {
  if (size_ == 0) throw Malformed{"an empty file"};
  unsigned char ident[EI_NIDENT] = {};
  copy(0, ident, std::min<uint64_t>(size_, sizeof ident));
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0) throw Malformed{"not an ELF shared object"};
  if (size_ < sizeof(Elf64_Ehdr)) throw Malformed{"truncated: an ELF file without the whole of its header"};
  if (ident[EI_CLASS] == ELFCLASS32) throw Malformed{"a 32-bit object; this process is 64-bit"};
  if (ident[EI_CLASS] != ELFCLASS64)
    throw Malformed{"malformed: an ELF file that is neither 32-bit nor 64-bit"};
  if (ident[EI_DATA] != ELFDATA2LSB) throw Malformed{"a big-endian object; this machine is little-endian"};
  header_ = at_offset<Elf64_Ehdr>(0);
  if (header_.e_machine != kMachine)
    throw Malformed{fmt::format("built for {}; this machine is {}", machine_name(header_.e_machine),
                                machine_name(kMachine))};
  if (header_.e_type != ET_DYN) throw Malformed{"an ELF file, but not a shared object"};
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 || header_.e_phnum > kMaxSegments)
    throw Malformed{"malformed: an ELF file without a sound table of segments"};
}

void Parser::read_segments() {
  for (uint16_t i = 0; i < header_.e_phnum; ++i) {
    if (header_.e_phoff > size_) throw Malformed{"truncated: its table of segments lies past its end"};
    const auto entry = at_offset<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr));
    if (entry.p_type == PT_DYNAMIC) dynamic_ = Table{entry.p_vaddr, entry.p_filesz};
    if (entry.p_type != PT_LOAD) continue;
    if (entry.p_offset > size_ || entry.p_filesz > size_ - entry.p_offset)
      throw Malformed{"truncated: a segment ends past the end of the file"};
    // What the program loader takes for granted.
    const bool ascending =
        segments_.empty() || entry.p_vaddr >= segments_.back().address + segments_.back().memory_bytes;
    if (entry.p_filesz > entry.p_memsz || entry.p_vaddr + entry.p_memsz < entry.p_vaddr || !ascending)
      throw Malformed{"malformed: its segments overlap or are out of order"};
    segments_.push_back({entry.p_vaddr, entry.p_offset, entry.p_filesz, entry.p_memsz});
  }
  if (segments_.empty() || !dynamic_) throw Malformed{"malformed: an ELF file without segments to load"};
}

void Parser::read_dynamic(ElfFile& file) {
  std::vector<uint64_t> needed;
  std::optional<uint64_t> soname;
  bool ended = false;
  const uint64_t count = std::min(dynamic_->bytes / sizeof(Elf64_Dyn), kMaxDynamicEntries);
  for (uint64_t i = 0; i < count && !ended; ++i) {
    const auto entry = at_address<Elf64_Dyn>(dynamic_->address + i * sizeof(Elf64_Dyn), "dynamic section");
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL:
        ended = true;
        break;
      case DT_NEEDED:
        needed.push_back(value);
        break;
      case DT_SONAME:
        soname = value;
        break;
      case DT_STRTAB:
        strings_.address = value;
        break;
      case DT_STRSZ:
        strings_.bytes = value;
        break;
      case DT_SYMTAB:
        symbols_ = value;
        break;
      case DT_GNU_HASH:
        gnu_hash_ = value;
        break;
      case DT_HASH:
        sysv_hash_ = value;
        break;
      case DT_RELA:
        relocations_.address = value;
        break;
      case DT_RELASZ:
        relocations_.bytes = value;
        break;
      case DT_FLAGS_1:
        if ((value & DF_1_PIE) != 0) throw Malformed{"a program, not a shared library"};
        break;
      default:
        break;
    }
  }
  if (!ended) throw Malformed{"malformed: its dynamic section has no end"};
  if (strings_.bytes == 0 || symbols_ == 0) throw Malformed{"malformed: it has no table of dynamic symbols"};
  offset_of(strings_.address, strings_.bytes, "table of names");
  for (const uint64_t index : needed) file.needed.push_back(string_at(index));
  if (soname) file.soname = string_at(*soname);
}

// A NUL-terminated string of fewer than `limit` bytes.
std::string Parser::text(uint64_t address, uint64_t limit, const char* what) const {
  std::string result;
  for (uint64_t i = 0; i < std::min<uint64_t>(limit, kMaxName); ++i) {
    const char c = at_address<char>(address + i, what);
    if (c == '\0') return result;
    result.push_back(c);
  }
  throw Malformed{fmt::format("malformed: its {} has a string without an end", what)};
}

std::string Parser::string_at(uint64_t index) const {
  if (index >= strings_.bytes) throw Malformed{"malformed: a name lies outside its table of names"};
  return text(strings_.address + index, strings_.bytes - index, "table of names");
}

std::optional<Elf64_Sym> Parser::symbol_if_named(uint32_t index, const char* name) const {
  const auto symbol =
      at_address<Elf64_Sym>(symbols_ + uint64_t{index} * sizeof(Elf64_Sym), "table of symbols");
  if (string_at(symbol.st_name) != name) return std::nullopt;
  return symbol;
}

// Looked up as the program loader does it, so that both find the same.
std::optional<Elf64_Sym> Parser::find(const char* name) const {
  if (gnu_hash_ != 0) return find_by_gnu_hash(name);
  if (sysv_hash_ != 0) return find_by_sysv_hash(name);
  throw Malformed{"malformed: it has no hash table of symbols"};
}

std::optional<Elf64_Sym> Parser::find_by_gnu_hash(const char* name) const {
  struct Head {
    uint32_t bucket_count, first_symbol, bloom_words, bloom_shift;
  };
  const char* what = "hash table";
  const auto head = at_address<Head>(gnu_hash_, what);
  if (head.bucket_count == 0) return std::nullopt;
  const uint64_t buckets = gnu_hash_ + sizeof head + uint64_t{head.bloom_words} * 8;
  const uint64_t chains = buckets + uint64_t{head.bucket_count} * 4;
  const uint32_t hash = gnu_hash(name);
  const auto first = at_address<uint32_t>(buckets + uint64_t{hash % head.bucket_count} * 4, what);
  if (first < head.first_symbol) return std::nullopt;
  for (uint32_t i = 0; i < kMaxChain; ++i) {
    const auto entry = at_address<uint32_t>(chains + (uint64_t{first} - head.first_symbol + i) * 4, what);
    if ((entry | 1) == (hash | 1)) {
      const auto symbol = symbol_if_named(first + i, name);
      if (symbol) return symbol;
    }
    if ((entry & 1) != 0) return std::nullopt;
  }
  throw Malformed{"malformed: a chain of its hash table has no end"};
}

std::optional<Elf64_Sym> Parser::find_by_sysv_hash(const char* name) const {
  const char* what = "hash table";
  const auto bucket_count = at_address<uint32_t>(sysv_hash_, what);
  if (bucket_count == 0) return std::nullopt;
  const uint64_t buckets = sysv_hash_ + 8;
  const uint64_t chains = buckets + uint64_t{bucket_count} * 4;
  auto index = at_address<uint32_t>(buckets + uint64_t{sysv_hash(name) % bucket_count} * 4, what);
  for (uint32_t i = 0; i < kMaxChain; ++i) {
    if (index == STN_UNDEF) return std::nullopt;
    const auto symbol = symbol_if_named(index, name);
    if (symbol) return symbol;
    index = at_address<uint32_t>(chains + uint64_t{index} * 4, what);
  }
  throw Malformed{"malformed: a chain of its hash table has no end"};
}

void Parser::describe(const Elf64_Sym& symbol, const ElfQuery& query, ElfFile& file) const {
  const unsigned binding = ELF64_ST_BIND(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  const bool exported = symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK) &&
                        (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
  if (!exported || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) return;
  file.exports_symbol = true;
  file.symbol_size = symbol.st_size;
  const size_t bytes = std::min<uint64_t>(query.bytes, symbol.st_size);
  const auto offset = find_offset(symbol.st_value, bytes);
  if (!offset) return;
  file.symbol_bytes.resize(bytes);
  copy(*offset, file.symbol_bytes.data(), bytes);
  if (symbol.st_size < query.pointer_offset + 8) return;
  const auto pointer = pointer_at(symbol.st_value + query.pointer_offset);
  if (pointer && find_offset(*pointer, 1)) file.symbol_text = text(*pointer, kMaxName, "data");
}

// What the pointer at `address` will hold, as an address of this file: the addend of its relocation, or,
// where it has none of that kind (DT_RELR), what is stored there.
std::optional<uint64_t> Parser::pointer_at(uint64_t address) const {
  const uint64_t count = std::min(relocations_.bytes / sizeof(Elf64_Rela), kMaxRelocations);
  constexpr size_t kChunk = 256;
  Elf64_Rela chunk[kChunk];
  for (uint64_t i = 0; i < count; i += kChunk) {
    const size_t entries = std::min<uint64_t>(kChunk, count - i);
    const uint64_t start = relocations_.address + i * sizeof(Elf64_Rela);
    copy(offset_of(start, entries * sizeof(Elf64_Rela), "table of relocations"), chunk,
         entries * sizeof(Elf64_Rela));
    const auto* found = std::find_if(chunk, chunk + entries,
                                     [address](const Elf64_Rela& r) { return r.r_offset == address; });
    if (found == chunk + entries) continue;
    if (ELF64_R_TYPE(found->r_info) != kRelative) return std::nullopt;
    return static_cast<uint64_t>(found->r_addend);
  }
  const auto stored = at_address<uint64_t>(address, "data");
  return stored == 0 ? std::nullopt : std::optional(stored);
}

}  // namespace

ElfResult read_elf(const ReadAt& read, uint64_t file_size, const ElfQuery& query) {
  ElfResult result;
  try {
    Parser(read, file_size).parse(query, result.file);
  } catch (const Malformed& malformed) {
    result.defect = malformed.cause;
  }
  return result;
}

}  // namespace backplane::internal
