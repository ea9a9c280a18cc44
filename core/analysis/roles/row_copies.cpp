#include "analysis/roles/row_copies.h"

#include <string>
#include <vector>

#include "analysis/roles/row_copy.h"

namespace hopscope::analysis {

namespace {

// The tables whose row numbers an input holds: of edges for each end that it has.
std::vector<std::string> targetsOf(const InputRole& role)
{
    if (role.kind == RoleKind::Key) return {role.second};
    std::vector<std::string> ends;
    for (const int end : {0, 1})
        if (listsEdges(role) && hasEnd(role.form, end)) ends.push_back(end == 0 ? role.first : role.second);
    return ends;
}

class Copier {
public:
    Copier(const InputSchema& schema, std::int64_t copies) : m_schema(schema), m_copies(copies) {}

    [[nodiscard]] base::TensorView of(const std::string& key, const base::TensorView& view) const
    {
        const auto found = m_schema.roles.find(key);
        if (found == m_schema.roles.end()) return view;
        const InputRole& role = found->second;
        if (role.kind == RoleKind::Index && isCompressed(role.form)) return offsets(view, role);
        const InputRows rows = rowsOf(role);
        if (rows.kind != TableKind::None) return moved(repeated(view, rows.dim), rows.dim, targetsOf(role));
        const bool ofMatrix = key.ends_with(".coo_size") || key.ends_with(".csr_size");
        return ofMatrix && view.shape.size() == 1 && base::isIntegral(view.dtype) ? sizes(view) : view;
    }

private:
    static std::int64_t itemOf(const base::TensorView& view)
    {
        return static_cast<std::int64_t>(base::itemSize(view.dtype));
    }

    [[nodiscard]] base::TensorView repeated(const base::TensorView& view, std::size_t dim) const
    {
        Members all;
        for (std::int64_t copy = 0; copy < m_copies; ++copy)
            for (std::int64_t row = 0; row < view.shape[dim]; ++row) all.push_back(row);
        return sliceRows(view, all, dim);
    }

    // Row numbers, repeated along `dim`, become those of the rows of their copy. `tables`: which they are rows of, by the place in
    // the other dimension; none if it holds no row numbers. Negative numbers are padding and stay as they are.
    [[nodiscard]] base::TensorView moved(const base::TensorView& view, std::size_t dim,
                                         const std::vector<std::string>& tables) const
    {
        if (view.elements() == 0 || tables.empty()) return view;
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

    [[nodiscard]] base::TensorView offsets(const base::TensorView& view, const InputRole& role) const
    {
        const std::int64_t edges = m_schema.sizes.at(role.relation);
        const IntColumn numbers(view);
        const std::int64_t one = numbers.size() - extraOffsets(role.form), rows = one * m_copies;
        base::OwnedTensor out = base::allocate(view.dtype, {rows + extraOffsets(role.form)});
        out.view.origin = view.origin;
        storeOffsets(out.bytes, view.dtype, role.form, rows, [&](std::int64_t row) {
            return row < rows ? offsetAt(numbers, role.form, row % one, 0) + row / one * edges : m_copies * edges;
        });
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
