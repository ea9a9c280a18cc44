#include "export/inputs.h"

#include <algorithm>

namespace hopscope::exporter {

namespace {

struct Shared {
    std::int64_t rows;
    std::string first;  // the input that has so many
};

using Sizes = std::map<std::string, Shared>;

base::Status refused(const std::string& name, const std::string& what)
{
    return base::fail(base::ErrorCode::Input, "'" + name + "' " + what);
}

base::Status checkSize(const std::string& name, std::size_t dim, std::int64_t size, const schema::Dim& wanted,
                       Sizes& sizes)
{
    if (const auto* fixed = std::get_if<std::int64_t>(&wanted)) {
        if (size == *fixed) return {};
        return refused(name, "has size " + std::to_string(size) + " in dimension " + std::to_string(dim) + ", not " +
                                 std::to_string(*fixed));
    }
    const std::string& table = std::get<std::string>(wanted);
    const Shared& known = sizes.try_emplace(table, Shared{size, name}).first->second;
    if (known.rows == size) return {};
    return refused(name, "gives " + table + " this number of rows: " + std::to_string(size) + ", but '" + known.first +
                             "' gives " + std::to_string(known.rows));
}

base::Status check(const schema::TensorSpec& spec, const base::TensorView& given, Sizes& sizes)
{
    const bool number = spec.shape.empty() && given.elements() == 1;
    if (number) return {};
    if (given.dtype != spec.dtype)
        return refused(spec.name, std::string("is ") + base::dtypeName(given.dtype) + ", but the model takes " +
                                      base::dtypeName(spec.dtype));
    if (given.shape.size() != spec.shape.size())
        return refused(spec.name, "is " + std::to_string(given.shape.size()) + "-dimensional, not " +
                                      std::to_string(spec.shape.size()) + "-dimensional");
    for (std::size_t d = 0; d < spec.shape.size(); ++d)
        if (const base::Status same = checkSize(spec.name, d, given.shape[d], spec.shape[d], sizes); !same) return same;
    return {};
}

std::string listing(const base::TensorMap& inputs)
{
    std::string text;
    for (const auto& [name, view] : inputs) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "nothing" : text;
}

}  // namespace

base::TensorMap withSizes(const base::TensorMap& inputs)
{
    base::TensorMap all = inputs;
    for (const auto& [name, view] : inputs) {
        const bool sizes = name.ends_with(".coo_size") || name.ends_with(".csr_size");
        if (!sizes || view.shape.size() != 1) continue;
        const std::int64_t step = view.strides[0] * static_cast<std::int64_t>(base::itemSize(view.dtype));
        for (std::int64_t i = 0; i < view.shape[0]; ++i) {
            base::TensorView& element = all[name + "." + std::to_string(i)] = view;
            element.shape = element.strides = {};
            element.data += i * step;
        }
    }
    return all;
}

base::Status checkInputs(const schema::Split& split, const base::TensorMap& inputs)
{
    Sizes sizes;
    for (const ir::ValueId id : split.inputs) {
        const auto spec = std::ranges::find(split.tensors, id, &schema::TensorSpec::value);
        if (spec == split.tensors.end()) continue;
        const auto given = inputs.find(spec->name);
        if (given == inputs.end())
            return base::fail(base::ErrorCode::Input,
                              "the model needs '" + spec->name + "', and the data has " + listing(inputs));
        if (const base::Status fits = check(*spec, given->second, sizes); !fits) return fits;
    }
    return {};
}

}  // namespace hopscope::exporter
