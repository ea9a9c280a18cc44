#pragma once

#include <cstdint>

#include "graph/generate.h"

namespace hopscope::graph {

struct Edge {
    std::int64_t source = 0, target = 0;
};

// Computes the edges of a generated graph from their numbers; any thread may draw any of them. The caller has checked
// the options. Random kinds of graphs have any number of edges; the others have count() edges.
class EdgeDraw {
public:
    explicit EdgeDraw(const GenerateOptions& options);

    [[nodiscard]] Edge operator()(std::int64_t index) const;
    [[nodiscard]] bool random() const;
    [[nodiscard]] std::int64_t count() const;  // random kinds: the number that the options request

private:
    [[nodiscard]] Edge rmat(std::int64_t index) const;
    [[nodiscard]] Edge sbm(std::int64_t index) const;
    [[nodiscard]] Edge grid(std::int64_t index) const;
    [[nodiscard]] Edge uniform(std::int64_t index) const;

    GenerateOptions m_options;
    std::uint64_t m_key;
    int m_levels = 0;            // rmat
    std::int64_t m_columns = 1;  // grid
    std::int64_t m_size = 1;     // sbm: nodes per community; the last one takes the remainder
    std::int64_t m_communities = 1;
};

}  // namespace hopscope::graph
