// SPDX-License-Identifier: Apache-2.0
// Streams, events and host functions.
#include <thread>

#include "driver/call.h"

using namespace cuda_double;

namespace {

CUresult create_stream(CUstream* result, unsigned int flags, int priority) {
  return call_in_context("cuStreamCreate", [&](Context& context) {
    if ((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) return CUDA_ERROR_INVALID_VALUE;
    Driver& state = driver();
    auto stream = Stream::start(&context, flags, priority, state.config.seed + state.next_stream_seed++,
                                state.config.delay_us);
    const uint64_t handle = state.streams.add(stream);
    const std::lock_guard lock(context.mutex);
    context.streams[handle] = std::move(stream);
    return *result = as_handle<CUstream>(handle), CUDA_SUCCESS;
  });
}

// For calls that may name a stream of another context than the current one.
CUresult with_stream(const char* function, CUstream handle, CUresult (*body)(Stream&)) {
  return guarded(function, true, [&]() -> CUresult {
    auto stream = driver().streams.find(handle);
    if (stream == nullptr) {
      const auto context = current_context();
      if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
      stream = stream_of(handle, *context, function);
    }
    Context& context = *stream->context;
    if (context.failure != 0) return static_cast<CUresult>(context.failure.load());
    const CUresult result = body(*stream);
    return context.failure != 0 ? static_cast<CUresult>(context.failure.load()) : result;
  });
}

uint64_t next_record(Event& event) {
  const std::lock_guard lock(event.mutex);
  return ++event.recorded;
}

void complete(Event& event, uint64_t version) {
  const std::lock_guard lock(event.mutex);
  event.completed = version;
  event.time = std::chrono::steady_clock::now();
  event.changed.notify_all();
}

void wait_for(Event& event, uint64_t version) {
  std::unique_lock lock(event.mutex);
  event.changed.wait(lock, [&] { return event.completed >= version; });
}

// Whether the word has what a stream waits for: see CUstreamWaitValue_flags.
bool has_value(uint32_t word, uint32_t value, unsigned int condition) {
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<int32_t>(word - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return word == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (word & value) != 0;
    default:
      return ~(word | value) != 0;
  }
}

}  // namespace

CUDA_DOUBLE_API CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return create_stream(stream, flags, 0);
}

CUDA_DOUBLE_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return create_stream(stream, flags, priority > 0 ? 0 : priority < -5 ? -5 : priority);
}

CUDA_DOUBLE_API CUresult cuStreamDestroy(CUstream handle) {
  return call("cuStreamDestroy_v2", [&] {
    const auto stream = driver().streams.remove(handle);
    if (stream == nullptr) {
      misuse(CUDA_ERROR_INVALID_HANDLE,
             std::string("cuStreamDestroy of ") +
                 (driver().streams.was_live(handle) ? "a destroyed stream" : "no stream"));
    }
    // Work that was enqueued still runs; the context forgets the stream when it is done.
    Context& context = *stream->context;
    const uint64_t key = reinterpret_cast<uint64_t>(handle);
    stream->enqueue([&context, key] {
      const std::lock_guard lock(context.mutex);
      context.streams.erase(key);
    });
    stream->close();
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamQuery(CUstream handle) {
  return with_stream(__func__, handle,
                     [](Stream& stream) { return stream.idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; });
}

CUDA_DOUBLE_API CUresult cuStreamSynchronize(CUstream handle) {
  return with_stream(__func__, handle, [](Stream& stream) { return stream.synchronize(), CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int) {
  return call_in_context(__func__, [&](Context& current) {
    const auto stream = stream_of(handle, current, "cuStreamWaitEvent");
    const auto event = event_of(event_handle, "cuStreamWaitEvent");
    uint64_t version = 0;
    {
      const std::lock_guard lock(event->mutex);
      version = event->recorded;
    }
    submit(
        *stream, [event, version] { wait_for(*event, version); }, false);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamWaitValue32(CUstream handle, CUdeviceptr address, cuuint32_t value,
                                             unsigned int flags) {
  return call_in_context("cuStreamWaitValue32_v2", [&](Context& current) {
    const auto stream = stream_of(handle, current, "cuStreamWaitValue32");
    const auto allocation = AddressSpace::instance().find(address);
    if (allocation == nullptr || address % 4 != 0)
      misuse(CUDA_ERROR_INVALID_VALUE,
             "cuStreamWaitValue32 of an address that is in no allocation, or misaligned");
    const auto* word =
        reinterpret_cast<const std::atomic<uint32_t>*>(allocation->host + (address - allocation->base));
    const unsigned int condition = flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
    if (condition > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
    // A context that has failed waits no longer.
    submit(
        *stream,
        [allocation, word, value, condition, context = stream->context] {
          while (!has_value(word->load(std::memory_order_acquire), value, condition) && context->failure == 0)
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        },
        false);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamGetCtx(CUstream handle, CUcontext* result) {
  return call_in_context(__func__, [&](Context& current) {
    return *result = as_handle<CUcontext>(stream_of(handle, current, "cuStreamGetCtx")->context->handle),
           CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return call_in_context(__func__, [&](Context& current) {
    return *device = stream_of(handle, current, "cuStreamGetDevice")->context->device->ordinal, CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamGetFlags(CUstream handle, unsigned int* flags) {
  return call_in_context(__func__, [&](Context& current) {
    return *flags = stream_of(handle, current, "cuStreamGetFlags")->flags, CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return call_in_context(__func__, [&](Context& current) {
    return *priority = stream_of(handle, current, "cuStreamGetPriority")->priority, CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return call_in_context(__func__, [&](Context& current) {
    stream_of(handle, current, "cuStreamGetId");
    return *id = reinterpret_cast<uint64_t>(handle), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  return call(__func__, [&] { return *status = CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS; });
}

CUDA_DOUBLE_API CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return call_in_context(__func__, [&](Context& current) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    // Not called once the context has failed, as the driver's documentation says.
    submit(*stream_of(handle, current, "cuLaunchHostFunc"), [function, data] { function(data); });
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuEventCreate(CUevent* result, unsigned int flags) {
  return call_in_context(__func__, [&](Context& context) {
    auto event = std::make_shared<Event>();
    event->context = &context;
    event->flags = flags;
    return *result = as_handle<CUevent>(driver().events.add(event)), CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuEventDestroy(CUevent handle) {
  return call("cuEventDestroy_v2", [&] {
    event_of(handle, "cuEventDestroy");
    driver().events.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuEventRecord(CUevent event_handle, CUstream handle) {
  return call_in_context(__func__, [&](Context& current) {
    const auto event = event_of(event_handle, "cuEventRecord");
    const auto stream = stream_of(handle, current, "cuEventRecord");
    if (event->context != stream->context)
      misuse(CUDA_ERROR_INVALID_HANDLE, "cuEventRecord: event and stream belong to different contexts");
    const uint64_t version = next_record(*event);
    submit(
        *stream, [event, version] { complete(*event, version); }, false);
    return CUDA_SUCCESS;
  });
}

CUDA_DOUBLE_API CUresult cuEventQuery(CUevent handle) {
  return call(__func__, [&]() -> CUresult {
    const auto event = event_of(handle, "cuEventQuery");
    if (event->context->failure != 0) return static_cast<CUresult>(event->context->failure.load());
    const std::lock_guard lock(event->mutex);
    return event->completed >= event->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUDA_DOUBLE_API CUresult cuEventSynchronize(CUevent handle) {
  return call(__func__, [&]() -> CUresult {
    const auto event = event_of(handle, "cuEventSynchronize");
    uint64_t version = 0;
    {
      const std::lock_guard lock(event->mutex);
      version = event->recorded;
    }
    wait_for(*event, version);
    return static_cast<CUresult>(event->context->failure.load());
  });
}

CUDA_DOUBLE_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return call(__func__, [&] {
    const auto start = event_of(start_handle, "cuEventElapsedTime"),
               end = event_of(end_handle, "cuEventElapsedTime");
    if (((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
    std::chrono::steady_clock::time_point times[2];
    int index = 0;
    for (const auto& event : {start, end}) {
      const std::lock_guard lock(event->mutex);
      if (event->recorded == 0) return CUDA_ERROR_INVALID_HANDLE;
      if (event->completed < event->recorded) return CUDA_ERROR_NOT_READY;
      times[index++] = event->time;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(times[1] - times[0]).count();
    return CUDA_SUCCESS;
  });
}
