// SPDX-License-Identifier: Apache-2.0
#ifndef BACKPLANE_TOOLS_LS_VIEWS_H_
#define BACKPLANE_TOOLS_LS_VIEWS_H_

#include <string>

#include "snapshot.h"
#include "table.h"

namespace backplane::tools {

// The table of devices, their processes, and what does not work, with cause and remedy.
std::string devices_text(const Snapshot& snapshot, const Page& page);

// Every file looked at, in the order of the search.
std::string plugins_text(const Snapshot& snapshot, const Page& page);

// The matrix of routes from each device (rows) to each (columns), with bandwidth and latency where measured,
// and the reason of each route.
std::string routes_text(const Snapshot& snapshot, const Page& page);

// The same as one JSON object: "devices", "plugins", "notes", "folders", "routes", "version". What is not
// known is null.
std::string json_text(const Snapshot& snapshot);

}  // namespace backplane::tools

#endif  // BACKPLANE_TOOLS_LS_VIEWS_H_
