#pragma once

// Small tensors for the tests of roles and samples.

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "analysis/roles/roles.h"
#include "base/tensor.h"

namespace inputs {

using hopscope::base::DType;
using hopscope::base::TensorMap;
using hopscope::base::TensorView;

inline TensorView integers(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values,
                           DType dtype = DType::Int64)
{
    hopscope::base::OwnedTensor tensor = hopscope::base::allocate(dtype, std::move(shape));
    const std::size_t size = hopscope::base::itemSize(dtype);
    for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(tensor.bytes + i * size, &values[i], size);
    return tensor.view;
}

inline TensorView column(const std::vector<std::int64_t>& values, DType dtype = DType::Int64)
{
    return integers({static_cast<std::int64_t>(values.size())}, values, dtype);
}

// [2, E] from pairs.
inline TensorView index(const std::vector<std::pair<std::int64_t, std::int64_t>>& edges, DType dtype = DType::Int64)
{
    std::vector<std::int64_t> values;
    for (const auto& [from, to] : edges) values.push_back(from);
    for (const auto& [from, to] : edges) values.push_back(to);
    return integers({2, static_cast<std::int64_t>(edges.size())}, values, dtype);
}

// The same edges in the other forms that models take.
inline TensorView pairsOf(const std::vector<std::pair<std::int64_t, std::int64_t>>& edges)
{
    std::vector<std::int64_t> values;
    for (const auto& [from, to] : edges) values.insert(values.end(), {from, to});
    return integers({static_cast<std::int64_t>(edges.size()), 2}, values);
}

inline TensorView endOf(const std::vector<std::pair<std::int64_t, std::int64_t>>& edges, int end)
{
    std::vector<std::int64_t> values;
    for (const auto& [from, to] : edges) values.push_back(end == 0 ? from : to);
    return column(values);
}

// A path 0 > 1 > .. > n - 1 (largest id n - 1, n - 1 edges), then `more` self-loops of node 0.
inline TensorView path(std::int64_t n, std::int64_t more = 0)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> edges;
    for (std::int64_t i = 0; i + 1 < n; ++i) edges.emplace_back(i, i + 1);
    edges.resize(edges.size() + static_cast<std::size_t>(more), {0, 0});
    return index(edges);
}

// Element i holds the number i, so that rows can be recognised after they moved.
inline TensorView floats(std::vector<std::int64_t> shape)
{
    hopscope::base::OwnedTensor tensor = hopscope::base::allocate(DType::Float32, std::move(shape));
    for (std::int64_t i = 0; i < tensor.view.elements(); ++i) {
        const auto value = static_cast<float>(i);
        std::memcpy(tensor.bytes + i * 4, &value, 4);
    }
    return tensor.view;
}

inline TensorView mask(std::int64_t n) { return integers({n}, {}, DType::Bool); }
inline TensorView zeros(std::vector<std::int64_t> shape) { return integers(std::move(shape), {}); }

// The roles that the data have without any that are given.
inline hopscope::analysis::InputSchema schemaOf(const TensorMap& data)
{
    const auto schema = hopscope::analysis::inferSchema(data, {});
    REQUIRE_MESSAGE(schema.has_value(), (schema ? "" : hopscope::base::describe(schema.error())));
    return *schema;
}

}  // namespace inputs
