// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_EXPORT_H_
#define BACKPLANE_EXPORT_H_

// Marks what the shared library exports; everything else is hidden.
#define BACKPLANE_API __attribute__((visibility("default")))

#endif  // BACKPLANE_EXPORT_H_
