// SPDX-License-Identifier: Apache-2.0
//
// Order, asynchrony and copies: that nothing is missing shows because the driver's streams are threads with
// random delays.
#include <atomic>
#include <chrono>
#include <numeric>

#include "support.h"

namespace backplane::cuda_tests {
namespace {

constexpr size_t kCount = 1 << 16;
const std::map<std::string, std::string> kDelays = {{"CUDA_DOUBLE_DELAY_US", "3000"},
                                                    {"CUDA_DOUBLE_SEED", "7"}};

std::map<std::string, std::string> with(std::map<std::string, std::string> environment) {
  environment.insert(kDelays.begin(), kDelays.end());
  return environment;
}

plugin::Status fill(plugin::Stream& stream, plugin::Buffer& buffer, float value) {
  return stream.fill(&buffer, 0, buffer.size(), &value, sizeof value);
}

TEST(CudaStreams, WaitForEachOthersEvents) {
  Context context(load(kDelays).backend(), 0);
  auto first = context.create_stream(plugin::StreamKind::Asynchronous);
  auto second = context.create_stream(plugin::StreamKind::Asynchronous);
  auto event = context.create_event();
  auto a = context.allocate(kCount * sizeof(float)), b = context.allocate(kCount * sizeof(float));
  for (int round = 1; round <= 20; ++round) {
    ASSERT_TRUE(fill(*first, *a, static_cast<float>(round)).ok());
    ASSERT_TRUE(first->record(event.get()).ok());
    ASSERT_TRUE(second->wait(event.get()).ok());
    ASSERT_TRUE(second->copy(b.get(), 0, a.get(), 0, b->size()).ok());
    ASSERT_TRUE(second->synchronize(UINT64_MAX).ok());
    EXPECT_EQ(floats(context, *b, kCount)[kCount - 1], static_cast<float>(round));
  }
}

// Field report C3.
TEST(CudaStreams, KeepProgramOrderWithACopyFromAnotherDevice) {
  auto& loaded = load(with({{"CUDA_DOUBLE_DEVICES", "2"}}));
  Context source(loaded.backend(), 0), target(loaded.backend(), 1);
  auto from = upload(source, std::vector<float>(kCount, 2.0f));
  auto to = target.allocate(kCount * sizeof(float));
  auto event = target.create_event();
  auto other = target.create_stream(plugin::StreamKind::Asynchronous);
  ASSERT_TRUE(fill(target.stream(), *to, 1.0f).ok());
  ASSERT_TRUE(target.stream().record(event.get()).ok());
  ASSERT_TRUE(other->wait(event.get()).ok());
  ASSERT_TRUE(other->copy_from_peer(to.get(), 0, &source.device(), from.get(), 0, to->size()).ok());
  ASSERT_TRUE(other->synchronize(UINT64_MAX).ok());
  EXPECT_EQ(floats(target, *to, kCount), std::vector<float>(kCount, 2.0f));
  EXPECT_EQ(report_count(), 0u);
}

// Field report C4: more than fits in the plugin's pinned chunks, so that every chunk is used several times.
TEST(CudaCopies, OfPageableMemoryReturnAtOnceAndAreComplete) {
  Context context(load(kDelays).backend(), 0);
  constexpr size_t kLarge = (20u << 20) / sizeof(float) + 5;
  std::vector<float> values(kLarge), back(kLarge);
  std::iota(values.begin(), values.end(), 0.0f);
  auto buffer = context.allocate(kLarge * sizeof(float));
  auto gate = context.create_host_event();
  ASSERT_TRUE(context.stream().wait(gate.get()).ok());
  ASSERT_TRUE(context.stream().upload(buffer.get(), 0, values.data(), buffer->size()).ok());
  ASSERT_TRUE(context.stream().download(back.data(), buffer.get(), 0, buffer->size()).ok());
  // Both calls have returned although the stream cannot have come to them.
  bool idle = true;
  ASSERT_TRUE(context.stream().query(&idle).ok());
  EXPECT_FALSE(idle);
  ASSERT_TRUE(gate->signal().ok());
  context.synchronize();
  EXPECT_EQ(back, values);
}

TEST(CudaCopies, FromPinnedMemoryNeedNoStaging) {
  Context context(load(kDelays).backend(), 0);
  plugin::Buffer* made = nullptr;
  ASSERT_TRUE(context.device().alloc_host(kCount * sizeof(float), &made).ok());
  const Owned<plugin::Buffer> pinned(made);
  auto* memory = static_cast<float*>(pinned->host_pointer());
  std::iota(memory, memory + kCount, 1.0f);
  const uint64_t before = call_count("cuLaunchHostFunc");
  auto buffer = context.allocate(pinned->size());
  ASSERT_TRUE(context.stream().upload(buffer.get(), 0, memory, pinned->size()).ok());
  std::fill(memory + kCount, memory + kCount, 0.0f);
  context.synchronize();
  EXPECT_EQ(call_count("cuLaunchHostFunc"), before);
  EXPECT_EQ(floats(context, *buffer, kCount)[kCount - 1], static_cast<float>(kCount));
}

// Field report C1, as core's first-use check sees it: the copy succeeds and the bytes are wrong.
TEST(CudaCopies, ThatSilentlyWriteZerosReachTheCheckAsZeros) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "2"}, {"CUDA_DOUBLE_PEER_ZEROS", "0-1"}});
  Context source(loaded.backend(), 0), target(loaded.backend(), 1);
  auto from = upload(source, std::vector<float>(kCount, 5.0f));
  auto to = target.allocate(kCount * sizeof(float));
  ASSERT_TRUE(target.stream().copy_from_peer(to.get(), 0, &source.device(), from.get(), 0, to->size()).ok());
  EXPECT_EQ(floats(target, *to, kCount), std::vector<float>(kCount, 0.0f));
}

TEST(CudaCopies, BetweenCardsThatCannotReachEachOtherAreLeftToTheHost) {
  auto& loaded = load({{"CUDA_DOUBLE_DEVICES", "2"}, {"CUDA_DOUBLE_PEERS", "none"}});
  Context source(loaded.backend(), 0), target(loaded.backend(), 1);
  EXPECT_EQ(target.device().can_copy_from(&source.device()).code, StatusCode::Unimplemented);
}

TEST(CudaEvents, CallBackOnceWhenTheirWorkIsDoneAndSignalAHostEvent) {
  Context context(load(kDelays).backend(), 0);
  auto first = context.create_stream(plugin::StreamKind::Asynchronous);
  auto second = context.create_stream(plugin::StreamKind::Asynchronous);
  auto event = context.create_event();
  auto gate = context.create_host_event();
  auto a = context.allocate(kCount * sizeof(float)), b = context.allocate(kCount * sizeof(float));
  ASSERT_TRUE(second->wait(gate.get()).ok());
  ASSERT_TRUE(second->copy(b.get(), 0, a.get(), 0, b->size()).ok());
  ASSERT_TRUE(fill(*first, *a, 9.0f).ok());
  ASSERT_TRUE(first->record(event.get()).ok());
  const auto signal = [](void* context, plugin::Status status) noexcept {
    if (status.ok()) static_cast<plugin::Event*>(context)->signal();
  };
  ASSERT_TRUE(event->on_complete(signal, gate.get()).ok());
  ASSERT_TRUE(second->synchronize(UINT64_MAX).ok());
  EXPECT_EQ(floats(context, *b, kCount)[0], 9.0f);
}

TEST(CudaEvents, TimeOutAndTheWorkGoesOn) {
  Context context(load().backend(), 0);
  auto gate = context.create_host_event();
  auto event = context.create_event();
  ASSERT_TRUE(context.stream().wait(gate.get()).ok());
  ASSERT_TRUE(context.stream().record(event.get()).ok());
  EXPECT_EQ(event->wait(1000000).code, StatusCode::Unavailable);
  EXPECT_EQ(context.stream().synchronize(1000000).code, StatusCode::Unavailable);
  ASSERT_TRUE(gate->signal().ok());
  EXPECT_TRUE(event->wait(UINT64_MAX).ok());
}

// cuMemFree may wait for the whole device: it must not be called by the thread that would open the gate.
TEST(CudaEvents, AHostEventThatIsWaitedForPutsFreesOff) {
  Context context(load().backend(), 0);
  auto gate = context.create_host_event();
  auto buffer = context.allocate(1 << 20);
  ASSERT_TRUE(context.stream().wait(gate.get()).ok());
  const uint64_t before = call_count("cuMemFree_v2");
  buffer.reset();
  EXPECT_EQ(call_count("cuMemFree_v2"), before);
  ASSERT_TRUE(gate->signal().ok());
  context.synchronize();
  const auto next = context.allocate(1 << 20);
  EXPECT_EQ(call_count("cuMemFree_v2"), before + 1);
}

TEST(CudaEvents, DestroyedUnsignalledLetTheirWaitersGo) {
  Context context(load().backend(), 0);
  auto gate = context.create_host_event();
  ASSERT_TRUE(context.stream().wait(gate.get()).ok());
  gate.reset();
  EXPECT_TRUE(context.stream().synchronize(UINT64_MAX).ok());
}

}  // namespace
}  // namespace backplane::cuda_tests
