// SPDX-License-Identifier: Apache-2.0
// The CUresult values that running code ends with, by number, so that the interpreter needs no CUDA header.
#pragma once

namespace cuda_double {

constexpr int kErrorInvalidPtx = 218;
constexpr int kErrorIllegalAddress = 700;
constexpr int kErrorLaunchTimeout = 702;
constexpr int kErrorAssert = 710;
constexpr int kErrorIllegalInstruction = 715;
constexpr int kErrorMisalignedAddress = 716;
constexpr int kErrorInvalidAddressSpace = 717;
constexpr int kErrorLaunchFailed = 719;
constexpr int kErrorHardwareStackError = 714;

}  // namespace cuda_double
