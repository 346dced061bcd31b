// SPDX-License-Identifier: Apache-2.0
//
// A peer in a process of its own, kept alive and driven in turns over a pipe.
#ifndef BACKPLANE_TOOLS_BENCH_PEERS_PROCESS_H_
#define BACKPLANE_TOOLS_BENCH_PEERS_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace backplane::bench {

class PeerProcess {
 public:
  // Starts `python script`. What is wrong with it shows at the first answer.
  PeerProcess(const std::string& python, const std::string& script);
  ~PeerProcess();  // closes the pipe, at which the peer ends, and waits for it
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // What the peer is and its version; empty if it did not start.
  std::string hello();

  // Seconds that `calls` calls of a work took. Throws std::runtime_error when the peer has ended.
  double time(const std::string& work, int64_t calls);

 private:
  std::string ask(const std::string& line);

  pid_t child_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace backplane::bench

#endif  // BACKPLANE_TOOLS_BENCH_PEERS_PROCESS_H_
