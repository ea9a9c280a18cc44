#include "verify/cut.h"

#include <algorithm>
#include <cstring>

#include "analysis/roles/row_copy.h"
#include "graph/safetensors.h"

namespace hopscope::verify {

using analysis::storeInteger;
using ir::SpaceId;

Cutter::Cutter(const analysis::Analysis& analysis, const Structure& structure, const analysis::InputSchema& schema,
               const base::TensorMap& inputs, std::vector<std::string> used, std::string folder)
    : m_analysis(analysis),
      m_structure(structure),
      m_schema(schema),
      m_inputs(inputs),
      m_used(std::move(used)),
      m_folder(std::move(folder))
{}

base::Status Cutter::listTable(SpaceId id, const Neighbourhood& rows)
{
    const std::int64_t size = m_structure.sizes.at(id);
    Table& table = m_tables[id];
    table.count = rows.sizes().at(id);
    const graph::Scratch scratch(m_folder);
    if (!table.positions) {
        auto positions = scratch.allocate(std::max<std::int64_t>(size, 1) * 8);
        if (!positions) return base::forward(positions);
        table.positionBytes = std::move(*positions);
        table.positions = reinterpret_cast<std::int64_t*>(table.positionBytes.get());
    }
    auto list = scratch.allocate(std::max<std::int64_t>(table.count, 1) * 8);
    if (!list) return base::forward(list);
    table.rowBytes = std::move(*list);
    table.rows = reinterpret_cast<std::int64_t*>(table.rowBytes.get());
    for (std::int64_t row = 0, next = 0; row < size; ++row) {
        if (!rows.contains(id, row)) continue;
        table.rows[next] = row;
        table.positions[row] = next++;
    }
    return {};
}

base::Status Cutter::list(const Neighbourhood& rows)
{
    for (const SpaceId table : m_structure.tables)
        if (base::Status listed = listTable(table, rows); !listed) return listed;
    return {};
}

std::int64_t Cutter::position(SpaceId table, std::int64_t row) const { return m_tables.at(table).positions[row]; }

// The table of each dimension: as the analysis found it, or, for inputs it has dropped, as the schema declares.
std::vector<SpaceId> Cutter::dims(const std::string& input) const
{
    const std::size_t rank = m_inputs.at(input).shape.size();
    std::vector<SpaceId> labels(rank);
    for (const ir::NamedValue& named : m_analysis.program.inputs) {
        if (named.name != input) continue;
        const std::vector<SpaceId>& found = m_analysis.info(named.value).dims;
        std::copy_n(found.begin(), std::min(rank, found.size()), labels.begin());
        return labels;
    }
    const auto role = m_schema.roles.find(input);
    if (role == m_schema.roles.end() || rank == 0) return labels;
    const analysis::InputRows rows = analysis::rowsOf(role->second);
    for (const SpaceId table : m_structure.tables)
        if (rows.kind != analysis::TableKind::None && m_analysis.tables.space(table).name == rows.table)
            labels[rows.dim] = table;
    return labels;
}

std::vector<std::int64_t> Cutter::shape(const std::string& input) const
{
    std::vector<std::int64_t> shape = m_inputs.at(input).shape;
    const std::vector<SpaceId> labels = dims(input);
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (const auto table = m_tables.find(labels[d]); table != m_tables.end()) shape[d] = table->second.count;
    for (const Link& link : m_structure.links)
        if (link.input == input && analysis::isCompressed(link.form))
            shape[0] = m_tables.at(link.target).count + analysis::extraOffsets(link.form);
    return shape;
}

void Cutter::copySlices(const base::TensorView& view, const std::vector<SpaceId>& labels, std::size_t dim,
                        const std::byte* from, std::byte*& out) const
{
    const std::size_t item = base::itemSize(view.dtype);
    if (dim == view.shape.size()) {
        std::memcpy(out, from, item);
        out += item;
        return;
    }
    const auto table = m_tables.find(labels[dim]);
    const bool sliced = table != m_tables.end();
    const bool last = dim + 1 == view.shape.size();
    if (!sliced && last && view.strides[dim] == 1) {
        const std::size_t bytes = static_cast<std::size_t>(view.shape[dim]) * item;
        if (bytes > 0) std::memcpy(out, from, bytes);
        out += bytes;
        return;
    }
    const std::int64_t count = sliced ? table->second.count : view.shape[dim];
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = sliced ? table->second.rows[i] : i;
        copySlices(view, labels, dim + 1, from + row * view.strides[dim] * static_cast<std::int64_t>(item), out);
    }
}

// Writes the start of the chosen edges of each chosen destination, and the end of the last ones unless that is left
// out: both are in ascending order.
void Cutter::copyOffsets(const Link& link, std::byte* out) const
{
    const Table &edges = m_tables.at(link.table), &targets = m_tables.at(link.target);
    std::int64_t at = 0;
    analysis::storeOffsets(out, m_inputs.at(link.input).dtype, link.form, targets.count, [&](std::int64_t row) {
        while (row > 0 && at < edges.count && link.keys[edges.rows[at]] == targets.rows[row - 1]) ++at;
        return at;
    });
}

void Cutter::copyIds(const Link& link, std::byte* out) const
{
    if (analysis::isCompressed(link.form)) return copyOffsets(link, out);
    const Table& table = m_tables.at(link.table);
    const std::int64_t* positions = m_tables.at(link.target).positions;
    const base::DType dtype = m_inputs.at(link.input).dtype;
    const analysis::EdgePlaces places = analysis::edgePlaces(dtype, table.count, link.form, std::max(link.end, 0));
    out += places.first;
    for (std::int64_t i = 0; i < table.count; ++i, out += places.step)
        storeInteger(out, dtype, positions[link.keys[table.rows[i]]]);
}

// The declared size of a sparse matrix is the size of its tables.
bool Cutter::copySize(const std::string& input, std::byte* out) const
{
    const bool compressed = input.ends_with(".csr_size");
    if (!compressed && !input.ends_with(".coo_size")) return false;
    const std::string matrix = input.substr(0, input.rfind('.'));
    const base::DType dtype = m_inputs.at(input).dtype;
    bool found = false;
    for (const Link& link : m_structure.links) {
        const bool part = link.input == matrix + ".coo_indices" || link.input == matrix + ".csr_crow" ||
                          link.input == matrix + ".csr_col";
        if (!part || link.end < 0) continue;
        const int dim = compressed ? 1 - link.end : link.end;  // compressed rows are the destinations
        storeInteger(out + static_cast<std::size_t>(dim) * base::itemSize(dtype), dtype,
                     m_tables.at(link.target).count);
        found = true;
    }
    return found;
}

void Cutter::copy(const std::string& input, std::byte* out) const
{
    if (copySize(input, out)) return;
    bool ids = false;
    for (const Link& link : m_structure.links) {
        if (link.input != input) continue;
        copyIds(link, out);
        ids = true;
    }
    if (ids) return;
    const base::TensorView& view = m_inputs.at(input);
    copySlices(view, dims(input), 0, view.data, out);
}

base::Status Cutter::write(const Neighbourhood& rows, const std::string& path)
{
    if (base::Status listed = list(rows); !listed) return listed;
    std::vector<graph::TensorSpec> specs;
    for (const std::string& name : m_used)
        specs.push_back({.name = name, .dtype = m_inputs.at(name).dtype, .shape = shape(name)});
    base::Result<graph::SafetensorsWriter> writer = graph::SafetensorsWriter::create(path, specs);
    if (!writer) return base::forward(writer);
    for (const std::string& name : m_used) copy(name, writer->data(name));
    return writer->publish();
}

}  // namespace hopscope::verify
