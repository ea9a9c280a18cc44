#include "executor/loop/contribution_file.h"

#include <cstring>

#include "graph/safetensors.h"
#include "loader/tensors.h"

namespace hopscope::executor {

namespace {

constexpr const char* sumName = "digest";
constexpr const char* countName = "count";

std::string nameOf(std::size_t part, ir::OpId op) { return std::to_string(part) + ".op" + std::to_string(op.index); }

// Counts are exact as double. Empty contributions are left out.
void add(base::TensorMap& views, const std::string& name, const Contribution& contribution)
{
    if (contribution.empty) return;
    views[name + ".count"] = loader::toView(at::scalar_tensor(contribution.count, at::kDouble));
    if (contribution.value.defined()) views[name + ".value"] = loader::toView(contribution.value.contiguous());
    if (contribution.spread.defined()) views[name + ".spread"] = loader::toView(contribution.spread.contiguous());
}

// In the order of the names.
at::Tensor digestOfAll(const base::TensorMap& views)
{
    std::vector<graph::Digest> parts;
    for (const auto& [name, view] : views)
        if (name != sumName) parts.push_back(graph::digestOf(view.data, static_cast<std::size_t>(view.bytes())));
    const graph::Digest all = graph::digestOf(parts);
    at::Tensor bytes = at::empty({static_cast<std::int64_t>(all.bytes.size())}, at::kByte);
    std::memcpy(bytes.data_ptr(), all.bytes.data(), all.bytes.size());
    return bytes;
}

bool intact(const base::TensorMap& views)
{
    const auto sum = views.find(sumName);
    return sum != views.end() && views.contains(countName) &&
           at::equal(loader::toTensor(sum->second), digestOfAll(views));
}

Contribution contributionFrom(const base::TensorMap& views, const std::string& name)
{
    const auto part = [&](const char* suffix) {
        const auto it = views.find(name + suffix);
        return it == views.end() ? at::Tensor() : loader::toTensor(it->second).clone();
    };
    const at::Tensor count = part(".count");
    if (!count.defined()) return {};
    return {.value = part(".value"), .spread = part(".spread"), .count = count.item<double>(), .empty = false};
}

}  // namespace

void writeContributions(const std::string& file, const std::vector<Contributions>& parts)
{
    base::TensorMap views;
    for (std::size_t p = 0; p < parts.size(); ++p)
        for (const auto& [op, contribution] : parts[p]) add(views, nameOf(p, op), contribution);
    views[countName] = loader::toView(at::scalar_tensor(static_cast<std::int64_t>(parts.size()), at::kLong));
    views[sumName] = loader::toView(digestOfAll(views));
    unwrap(graph::writeSafetensors(file, views, graph::Flush::No));
}

std::optional<std::vector<Contributions>> readContributions(const std::string& file, const std::vector<ir::OpId>& ops)
{
    const base::Result<base::TensorMap> views = graph::mapSafetensors(file);
    if (!views || !intact(*views)) return std::nullopt;
    std::vector<Contributions> parts(
        static_cast<std::size_t>(loader::toTensor(views->at(countName)).item<std::int64_t>()));
    for (std::size_t p = 0; p < parts.size(); ++p)
        for (const ir::OpId op : ops) parts[p].emplace_back(op, contributionFrom(*views, nameOf(p, op)));
    return parts;
}

}  // namespace hopscope::executor
