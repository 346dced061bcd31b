// SPDX-License-Identifier: Apache-2.0
//
// What the plugin reports when drivers, or the loader itself, are broken or absent: fields P2 and P3 of the
// field reports, and the manifests that the loader passes over in silence.
#include <gmock/gmock.h>

#include "probe.h"

namespace backplane::opencl_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string with_vendors(const TemporaryFolder& folder) { return "OCL_ICD_VENDORS=" + folder.str() + "/"; }

// The machine's own manifests beside the test's.
void add_real_drivers(const TemporaryFolder& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors", none))
    std::filesystem::copy(entry.path(), folder.path() / entry.path().filename(), none);
}

TEST(OpenClDiscovery, SaysWhichPackageToInstallWhenThereIsNoLoader) {
  const TemporaryFolder folder;
  folder.write("libOpenCL.so.1", "no library");
  const std::string text = probe("LD_LIBRARY_PATH=" + folder.str());
  EXPECT_THAT(text, HasSubstr("failed: "));
  EXPECT_THAT(text, HasSubstr("libOpenCL.so.1"));
  EXPECT_THAT(text, HasSubstr("ocl-icd-libopencl1"));
}

TEST(OpenClDiscovery, SaysWhatToInstallWhenThereIsNoDriver) {
  const TemporaryFolder folder;
  const std::string text = probe(with_vendors(folder));
  EXPECT_THAT(text,
              HasSubstr("note: OpenCL: no OpenCL driver is installed [install a driver: pocl-opencl-icd"));
  EXPECT_THAT(text, Not(HasSubstr("device 0")));
  EXPECT_THAT(text, HasSubstr("exit 0"));
}

TEST(OpenClDiscovery, ReportsAnEmptyManifest) {
  const TemporaryFolder folder;
  folder.write("empty.icd", "");
  EXPECT_THAT(probe(with_vendors(folder)), HasSubstr("empty.icd: the manifest is empty"));
}

TEST(OpenClDiscovery, ReportsAManifestWithCarriageReturns) {
  const TemporaryFolder folder;
  folder.write("dos.icd", "libpocl.so.2\r\n");
  EXPECT_THAT(probe(with_vendors(folder)), HasSubstr("dos.icd: its lines end in CR LF"));
}

TEST(OpenClDiscovery, ReportsAManifestThatNamesAMissingLibrary) {
  const TemporaryFolder folder;
  folder.write("gone.icd", "libbackplane-no-such-driver.so\n");
  EXPECT_THAT(probe(with_vendors(folder)),
              HasSubstr("gone.icd: the library does not load: libbackplane-no-such-driver.so"));
}

TEST(OpenClDiscovery, BrokenManifestsCostTheGoodDriverNothing) {
  SKIP_WITHOUT_DEVICE();
  const TemporaryFolder folder;
  add_real_drivers(folder);
  folder.write("a-empty.icd", "");
  folder.write("b-gone.icd", "libbackplane-no-such-driver.so\n");
  const std::string text = probe(with_vendors(folder), "--compute");
  EXPECT_THAT(text, HasSubstr("a-empty.icd"));
  EXPECT_THAT(text, HasSubstr("b-gone.icd"));
  EXPECT_THAT(text, HasSubstr("device 0 computes: ok"));
}

TEST(OpenClDiscovery, APlatformThatReturnsAnErrorCostsOnlyItself) {
  SKIP_WITHOUT_DEVICE();
  const TemporaryFolder folder;
  add_real_drivers(folder);
  folder.write("a-broken.icd", OPENCL_ICD_ERROR "\n");
  const std::string text = probe(with_vendors(folder), "--compute");
  EXPECT_THAT(text, HasSubstr("(Broken Platform): clGetDeviceIDs: CL_OUT_OF_RESOURCES (-5)"));
  EXPECT_THAT(text, HasSubstr("device 0 computes: ok"));
  EXPECT_THAT(text, HasSubstr("exit 0"));
}

TEST(OpenClDiscovery, ADeviceThatRefusesEveryQueryIsListedAndCostsOnlyItself) {
  SKIP_WITHOUT_DEVICE();
  const TemporaryFolder folder;
  add_real_drivers(folder);
  folder.write("a-mute.icd", OPENCL_ICD_MUTE "\n");
  const std::string text = probe(with_vendors(folder), "--compute");
  EXPECT_THAT(text, HasSubstr("OpenCL device\n"));
  EXPECT_THAT(text, HasSubstr("memory: n/a"));
  EXPECT_THAT(text, HasSubstr("computes: open failed with code"));
  EXPECT_THAT(text, HasSubstr("computes: ok"));
}

struct Field {
  const char* query;  // CL_DEVICE_...
  const char* name;
};
class OneRefusedQuery : public testing::TestWithParam<Field> {};

TEST_P(OneRefusedQuery, CostsOnlyItsOwnField) {
  SKIP_WITHOUT_DEVICE();
  const std::string text =
      probe("OPENCL_LAYERS=" OPENCL_LAYER " BACKPLANE_TEST_LAYER=refuse=" + std::string(GetParam().query));
  const std::string field = "device 0 " + std::string(GetParam().name) + ": ";
  EXPECT_THAT(probe(""), Not(HasSubstr(field + "n/a")));
  EXPECT_THAT(text, HasSubstr(field + "n/a\n"));
  size_t unknown = 0;
  for (size_t at = text.find(": n/a"); at != std::string::npos; at = text.find(": n/a", at + 1)) ++unknown;
  EXPECT_EQ(unknown, 2u) << "the PCI address, which a CPU has not, and the field: " << text;
}

INSTANTIATE_TEST_SUITE_P(Fields, OneRefusedQuery,
                         testing::Values(Field{"0x102C", "vendor"}, Field{"0x102D", "driver"},
                                         Field{"0x102F", "api"}, Field{"0x1002", "units"},
                                         Field{"0x100C", "clock"}, Field{"0x101F", "memory"},
                                         Field{"0x1010", "largest allocation"},
                                         Field{"0x1023", "local memory"}, Field{"0x1004", "group size"},
                                         Field{"0x1030", "extensions"}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& letter : name)
                             if (letter == ' ') letter = '_';
                           return name;
                         });

TEST(OpenClDiscovery, ADeviceWithoutFloat64SaysSo) {
  SKIP_WITHOUT_DEVICE();
  const std::string text =
      probe("OPENCL_LAYERS=" OPENCL_LAYER " BACKPLANE_TEST_LAYER=no_float64", "--compute");
  EXPECT_THAT(text, HasSubstr("device 0 float64: no"));
  EXPECT_THAT(text, HasSubstr("device 0 computes: ok"));
}

TEST(OpenClDiscovery, ADiscreteGpuIsNotMapped) {
  SKIP_WITHOUT_DEVICE();
  const std::string text =
      probe("OPENCL_LAYERS=" OPENCL_LAYER " BACKPLANE_TEST_LAYER=gpu,discrete", "--compute");
  EXPECT_THAT(text, HasSubstr("device 0 kind: 1"));
  EXPECT_THAT(text, HasSubstr("device 0 maps without a copy: no"));
  EXPECT_THAT(text, HasSubstr("device 0 computes: ok"));
}

TEST(OpenClDiscovery, SplitsACpuIntoAsManyDevicesAsAskedFor) {
  SKIP_WITHOUT_DEVICE();
  if (probe("").find("device 0 kind: 0") == std::string::npos) GTEST_SKIP() << "device 0 is no CPU";
  if (probe("").find("device 0 units: 1\n") != std::string::npos)
    GTEST_SKIP() << "device 0 has one unit only";
  const std::string text = probe("", "--compute subdevices=2");
  EXPECT_THAT(text, HasSubstr("device 0 computes: ok"));
  EXPECT_THAT(text, HasSubstr("device 1 computes: ok"));
}

TEST(OpenClDiscovery, MorePartsThanUnitsLeaveTheDeviceWholeAndANote) {
  SKIP_WITHOUT_DEVICE();
  if (probe("").find("device 0 kind: 0") == std::string::npos) GTEST_SKIP() << "device 0 is no CPU";
  const std::string text = probe("", "subdevices=1000");
  EXPECT_THAT(text, HasSubstr("could not be split into 1000"));
  EXPECT_THAT(text, HasSubstr("device 0: "));
  EXPECT_THAT(text, Not(HasSubstr("device 1: ")));
}

TEST(OpenClDiscovery, NonsenseAsTheNumberOfPartsIsReported) {
  EXPECT_THAT(probe("", "subdevices=many"), HasSubstr("\"many\" is no number of parts"));
}

}  // namespace
}  // namespace backplane::opencl_tests
