// SPDX-License-Identifier: Apache-2.0
//
// Compiled programs on disk, one file each, named by a digest of all that they depend on. The files hold
// executable code, so that the folder must be the user's own and closed to everybody else. Nothing that goes
// wrong here is ever an error: at worst a program is compiled anew.
#ifndef BACKPLANE_PLUGINS_OPENCL_CACHE_H_
#define BACKPLANE_PLUGINS_OPENCL_CACHE_H_

#include <optional>
#include <string>
#include <vector>

namespace backplane::opencl {

// Thread-safe, and safe between processes: files appear under their name complete or not at all.
class BinaryCache {
 public:
  // `setting`: "0", "false", "off" or "no" turns the disk off. `folder` overrides the usual place,
  // $XDG_CACHE_HOME/backplane/opencl or $HOME/.cache/backplane/opencl. Either may be null.
  BinaryCache(const char* setting, const char* folder);

  // Empty when nothing is kept on disk.
  const std::string& folder() const noexcept { return folder_; }
  // Why the disk is not used though nobody turned it off.
  const std::vector<std::string>& problems() const noexcept { return problems_; }

  // `key` is everything that the binary depends on, as text.
  std::optional<std::string> load(const std::string& key) const;
  void store(const std::string& key, const std::string& binary) const;

 private:
  std::string folder_;
  std::vector<std::string> problems_;
};

}  // namespace backplane::opencl

#endif  // BACKPLANE_PLUGINS_OPENCL_CACHE_H_
