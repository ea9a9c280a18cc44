#include "verify/estimate.h"

#include <algorithm>

#include "operators/operators.h"

namespace hopscope::verify {

namespace {

using analysis::Analysis;
using analysis::SpaceKind;
using ir::SpaceId;
using ir::ValueId;

constexpr std::int64_t processBytes = std::int64_t(400) << 20;

double largestGrowth(const Analysis& analysis, const TableSizes& sizes)
{
    double growth = 1;
    for (const auto& [space, rows] : sizes) {
        const auto sample = analysis.sampleSizes.find(space);
        if (sample != analysis.sampleSizes.end() && sample->second > 0)
            growth = std::max(growth, static_cast<double>(rows) / static_cast<double>(sample->second));
    }
    return growth;
}

std::int64_t sampleRows(const Analysis& analysis, SpaceId space)
{
    const auto it = analysis.sampleSizes.find(space);
    return it == analysis.sampleSizes.end() ? 1 : it->second;
}

// Each value's owner of memory: itself, or the value it is a view of.
std::vector<ValueId> memoryOwners(const ir::Program& program)
{
    std::vector<ValueId> owners(program.values.size());
    for (std::size_t i = 0; i < owners.size(); ++i) owners[i] = program.values[i].id;
    for (const ir::Op& op : program.ops) {
        if (!operators::isView(op.name) || op.args.empty() || !op.args[0].value()) continue;
        for (ValueId output : op.outputs) owners[output.at()] = owners[op.args[0].value()->at()];
    }
    return owners;
}

std::vector<int> lastReaders(const ir::Program& program, const std::vector<ValueId>& owners)
{
    std::vector<int> last(program.values.size(), -1);
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        for (ValueId output : program.ops[i].outputs) last[owners[output.at()].at()] = static_cast<int>(i);
        ir::forEachOperand(program.ops[i],
                           [&](ir::Slot, ValueId v) { last[owners[v.at()].at()] = static_cast<int>(i); });
    }
    for (const ir::NamedValue& output : program.outputs)
        last[owners[output.value.at()].at()] = static_cast<int>(program.ops.size());
    return last;
}

}  // namespace

std::int64_t tableRows(const Analysis& analysis, const TableSizes& sizes, SpaceId space)
{
    if (const auto it = sizes.find(space); it != sizes.end()) return it->second;
    const analysis::Space& s = analysis.tables.space(space);
    if (s.kind == SpaceKind::Filter || s.kind == SpaceKind::Perm) return tableRows(analysis, sizes, s.parent);
    if (s.kind == SpaceKind::Cat) {
        std::int64_t sum = 0;
        for (SpaceId part : s.parts) sum += tableRows(analysis, sizes, part);
        return sum;
    }
    return static_cast<std::int64_t>(static_cast<double>(sampleRows(analysis, space)) * largestGrowth(analysis, sizes));
}

ForwardMemory::ForwardMemory(const Analysis& analysis) : m_analysis(analysis), m_freed(analysis.program.ops.size() + 1)
{
    const ir::Program& program = analysis.program;
    const std::vector<ValueId> owners = memoryOwners(program);
    const std::vector<int> last = lastReaders(program, owners);
    for (std::size_t v = 0; v < owners.size(); ++v) {
        const ir::Value& value = program.values[v];
        const bool own = owners[v] == value.id && value.kind == ir::ValueKind::Tensor && value.origin == ir::Origin::Op;
        if (own && last[v] >= 0) m_freed[static_cast<std::size_t>(last[v])].push_back(value.id);
        if (own) m_made.push_back(value.id);
    }
    std::sort(m_made.begin(), m_made.end(),
              [&](ValueId a, ValueId b) { return program.value(a).producer < program.value(b).producer; });
}

std::int64_t ForwardMemory::bytes(ValueId id, const TableSizes& sizes) const
{
    const ir::Value& value = m_analysis.program.value(id);
    const analysis::ValueInfo& info = m_analysis.info(id);
    const auto item = static_cast<std::int64_t>(base::itemSize(value.dtype));
    if (info.sparse) return tableRows(m_analysis, sizes, info.sparseRow.space) * (item + 16);
    double elements = 1;
    bool unknown = !m_analysis.info(value.producer).prologueReason.empty();
    for (SpaceId space : info.dims)
        unknown |= space.valid() && m_analysis.tables.space(space).kind == SpaceKind::Opaque;
    for (std::size_t d = 0; d < value.shape.size(); ++d) {
        const bool rows = !unknown && d < info.dims.size() && info.dims[d].valid();
        elements *= static_cast<double>(rows ? tableRows(m_analysis, sizes, info.dims[d]) : value.shape[d]);
    }
    if (unknown) elements *= largestGrowth(m_analysis, sizes);
    return static_cast<std::int64_t>(std::min(elements * static_cast<double>(item), 4e18));
}

std::int64_t ForwardMemory::peak(const TableSizes& sizes) const
{
    double live = 0, highest = 0;
    std::size_t next = 0;
    for (const ir::Op& op : m_analysis.program.ops) {
        for (; next < m_made.size() && m_analysis.program.value(m_made[next]).producer <= op.id; ++next)
            live += static_cast<double>(bytes(m_made[next], sizes));
        highest = std::max(highest, live);
        for (ValueId freed : m_freed[op.id.at()]) live -= static_cast<double>(bytes(freed, sizes));
    }
    return static_cast<std::int64_t>(std::min(highest * 1.25, 8e18)) + processBytes;
}

}  // namespace hopscope::verify
