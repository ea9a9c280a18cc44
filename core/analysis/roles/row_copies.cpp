#include "analysis/roles/row_copies.h"

#include <string>
#include <vector>

#include "analysis/roles/row_copy.h"

namespace hopscope::analysis {

namespace {

class Copier {
public:
    Copier(const InputSchema& schema, std::int64_t copies) : m_schema(schema), m_copies(copies) {}

    [[nodiscard]] base::TensorView of(const std::string& key, const base::TensorView& view) const
    {
        const auto found = m_schema.roles.find(key);
        if (found == m_schema.roles.end()) return view;
        const InputRole& role = found->second;
        switch (role.kind) {
        case RoleKind::Node: return repeated(view, role.dim);
        case RoleKind::Edge:
        case RoleKind::Graph: return repeated(view, 0);
        case RoleKind::Key: return moved(repeated(view, 0), 0, {role.second});
        case RoleKind::Ends:
        case RoleKind::Index: return edges(view, role);
        case RoleKind::Plain: break;
        }
        const bool ofMatrix = key.ends_with(".coo_size") || key.ends_with(".csr_size");
        return ofMatrix && view.shape.size() == 1 && base::isIntegral(view.dtype) ? sizes(view) : view;
    }

private:
    static std::int64_t itemOf(const base::TensorView& view)
    {
        return static_cast<std::int64_t>(base::itemSize(view.dtype));
    }

    [[nodiscard]] base::TensorView repeated(const base::TensorView& view, int dim) const
    {
        Members all;
        for (std::int64_t copy = 0; copy < m_copies; ++copy)
            for (std::int64_t row = 0; row < view.shape[static_cast<std::size_t>(dim)]; ++row) all.push_back(row);
        return sliceRows(view, all, dim);
    }

    // Row numbers, repeated along `dim`, become those of the rows of their copy. `tables`: which they are rows of, by the place in
    // the other dimension. Negative numbers are padding and stay as they are.
    [[nodiscard]] base::TensorView moved(const base::TensorView& view, std::size_t dim,
                                         const std::vector<std::string>& tables) const
    {
        if (view.elements() == 0) return view;
        base::OwnedTensor out = base::allocate(view.dtype, view.shape);
        out.view.origin = view.origin;
        const std::int64_t perCopy = view.elements() / view.shape[0] * (view.shape[dim] / m_copies);
        base::TensorView flat = view;
        flat.shape = {view.elements()}, flat.strides = {1};
        const IntColumn ids(flat);
        for (std::int64_t i = 0; i < ids.size(); ++i) {
            const std::int64_t copy = dim == 0 ? i / perCopy : i % view.shape[1] / (view.shape[1] / m_copies);
            const std::int64_t place = dim == 0 ? i % static_cast<std::int64_t>(tables.size()) : i / view.shape[1];
            const std::int64_t size = m_schema.sizes.at(tables[static_cast<std::size_t>(place)]);
            const std::int64_t beyond = ids[i] < 0 ? ids[i] : size * m_copies;
            storeInteger(out.bytes + i * itemOf(view), view.dtype,
                         ids[i] >= 0 && ids[i] < size ? ids[i] + copy * size : beyond);
        }
        return out.view;
    }

    [[nodiscard]] base::TensorView edges(const base::TensorView& view, const InputRole& role) const
    {
        switch (role.form) {
        case EdgeForm::Rows: return moved(repeated(view, 1), 1, {role.first, role.second});
        case EdgeForm::Pairs: return moved(repeated(view, 0), 0, {role.first, role.second});
        case EdgeForm::Source: return moved(repeated(view, 0), 0, {role.first});
        case EdgeForm::Destination: return moved(repeated(view, 0), 0, {role.second});
        case EdgeForm::Offsets:
        case EdgeForm::Starts: break;
        }
        return offsets(view, role);
    }

    [[nodiscard]] base::TensorView offsets(const base::TensorView& view, const InputRole& role) const
    {
        const IntColumn numbers(view);
        const std::int64_t last = role.form == EdgeForm::Offsets ? 1 : 0, count = numbers.size() - last;
        const std::int64_t edges = m_schema.sizes.at(role.relation);
        base::OwnedTensor out = base::allocate(view.dtype, {count * m_copies + last});
        out.view.origin = view.origin;
        for (std::int64_t i = 0; i < count * m_copies + last; ++i) {
            const std::int64_t copy = i < count * m_copies ? i / count : m_copies;
            const std::int64_t start = copy < m_copies ? numbers[i % count] : 0;
            storeInteger(out.bytes + i * itemOf(view), view.dtype, start + copy * edges);
        }
        return out.view;
    }

    [[nodiscard]] base::TensorView sizes(const base::TensorView& view) const
    {
        base::OwnedTensor out = base::allocate(view.dtype, view.shape);
        const IntColumn numbers(view);
        for (std::int64_t i = 0; i < numbers.size(); ++i)
            storeInteger(out.bytes + i * itemOf(view), view.dtype, numbers[i] * (i < 2 ? m_copies : 1));
        return out.view;
    }

    const InputSchema& m_schema;
    std::int64_t m_copies;
};

}  // namespace

Sample disjointCopies(const base::TensorMap& inputs, const InputSchema& schema, std::int64_t copies)
{
    const Copier copier(schema, copies);
    Sample sample;
    for (const auto& [key, view] : inputs) sample.tensors.emplace(key, copier.of(key, view));
    for (const auto& [table, size] : schema.sizes) sample.sizes[table] = size * copies;
    return sample;
}

}  // namespace hopscope::analysis
