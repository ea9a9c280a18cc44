#pragma once

// Private to the generator: an instance under construction, with widths instead of costs.

#include <random>
#include <string>
#include <vector>

#include "optimiser/instance.h"

namespace hopscope::optimiser {

// The same numbers on every machine: the standard fixes the engine, but not its distributions.
class Random {
public:
    explicit Random(std::uint64_t seed) : m_engine(seed) {}

    double unit() { return static_cast<double>(m_engine() >> 11) * 0x1p-53; }
    double between(double low, double high) { return low + (high - low) * unit(); }
    bool chance(double p) { return unit() < p; }
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(m_engine() % count); }
    template <class T>
    T pick(const std::vector<T>& items)
    {
        return items[below(items.size())];
    }
    int pick(std::initializer_list<int> items) { return *(items.begin() + below(items.size())); }

private:
    std::mt19937_64 m_engine;
};

// The unit is one feature of one row moved from the host to the device.
class Draft {
public:
    Draft(Random& random, int types);

    [[nodiscard]] int types() const { return static_cast<int>(m_instance.types.size()); }
    [[nodiscard]] int size() const { return static_cast<int>(m_instance.nodes.size()); }
    [[nodiscard]] int width(NodeId v) const { return m_width[v.at()]; }

    NodeId input(int type, int width);
    NodeId elementwise(const std::vector<NodeId>& operands);
    NodeId concatenate(const std::vector<NodeId>& operands);
    NodeId linear(NodeId operand, int width);
    NodeId narrow(NodeId operand, int width);  // a weighted sum over the features
    NodeId hop(int type, const std::vector<NodeId>& src, const std::vector<NodeId>& loc, int width, int relation = 0,
               RowKind rows = RowKind::Node);
    // About `count` ops of local computation: element-wise chains, gates, norms, MLP blocks.
    NodeId filler(NodeId from, int count);

    // The instance; the draft is empty afterwards.
    Instance finish(const std::string& name, const std::vector<NodeId>& outputs);

private:
    NodeId op(const std::vector<NodeId>& operands, int width, double compute);
    NodeId add(Node node, int width, double compute);
    NodeId gate(NodeId from);
    NodeId norm(NodeId from);
    NodeId block(NodeId from, int& used);

    Random& m_random;
    Instance m_instance;
    std::vector<int> m_width;
    std::vector<std::vector<double>> m_frontier;  // rows of a type per destination of another, by [type][destination]
    double m_degree, m_writeFactor, m_perFeature;
};

}  // namespace hopscope::optimiser
