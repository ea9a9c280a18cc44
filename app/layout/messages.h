#pragma once

// The messages of the helper process, one JSON object per frame.
// Request: {"id": 7, "nodes": [[w, h], ..], "edges": [[from, to], ..], "gaps": [node, rank],
//           "weights": [n, ..]} (gaps and weights may be left out).
// Answer: {"id": 7, "centres": [[x, y], ..], "size": [w, h]} or {"id": 7, "error": "the graph is too large for dot"}.

#include <cstdint>
#include <string>
#include <string_view>

#include "layout/dot_layout.h"

namespace hopscope::layout {

struct Request {
    std::int64_t id = 0;
    Graph graph;
};

// Parses a request. Fails with Input and a JSON pointer.
base::Result<Request> readRequest(std::string_view text);
std::string writeAnswer(std::int64_t id, const base::Result<Placement>& placement);

}  // namespace hopscope::layout
