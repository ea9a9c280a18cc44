#include "executor/run/transient_inputs.h"

#include <algorithm>

#include "executor/rows/block.h"
#include "graph/file.h"

namespace hopscope::executor {

namespace {

// The addresses of the memory that loops read, as far as it exists already.
class Places {
public:
    Places(const analysis::Analysis& analysis, Structure& structure) : m_analysis(analysis), m_structure(structure) {}

    [[nodiscard]] bool anyWithin(const std::byte* begin, const std::byte* end) const
    {
        return std::ranges::any_of(m_places, [=](const std::byte* place) { return place >= begin && place < end; });
    }

    void include(ir::ValueId value)
    {
        if (value.valid() && m_structure.has(value)) include(m_structure.value(value));
    }

    void include(const LoopProgram& program)
    {
        for (const ir::ValueId v : program.leaves) include(v);
        for (const ir::ValueId v : program.inPlace) include(v);
        for (const ir::ValueId v : wholeOperands(program)) include(v);
        for (const auto& [value, base] : program.reshaped) include(base);
        for (const plan::Access& read : program.loop->reads) include(read.value);
        for (const auto& [value, rows] : program.owned) include(m_structure.ownedValue(value, rows));
        for (const plan::FrontierSource& s : program.loop->frontier)
            keys(analysis::owned(m_analysis, s.space, s.owner), s.space, s.key);
        for (const Instruction& i : program.instructions) include(i);
    }

private:
    void include(const at::Tensor& tensor)
    {
        if (tensor.has_storage()) m_places.push_back(static_cast<const std::byte*>(tensor.const_data_ptr()));
    }

    void include(const Column& column)
    {
        m_places.push_back(reinterpret_cast<const std::byte*>(column.data));
        m_places.push_back(reinterpret_cast<const std::byte*>(column.narrow));
    }

    void include(const Instruction& i)
    {
        if (i.act == Act::Select) include(m_structure.parentRows(i.rows.table));
        keys(i.rows, i.space, i.key);
        keys(i.segment);
        if (i.strips)
            for (const StripTableSource& table : i.strips->tables) keys(table.place);
    }

    void keys(const Segment& segment) { keys(segment.messages, segment.columnSpace, segment.columnKey); }

    // Adds the key columns that Block reads.
    void keys(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key)
    {
        if (!space.valid() || !key.valid()) return;
        if (isSliced(on, space, key)) m_places.push_back(m_structure.ownedColumn(space, on.key, key).bytes.get());
        else if (on.kind != ir::RowKind::Owned || on.table != space) include(m_structure.column(space, key));
    }

    const analysis::Analysis& m_analysis;
    Structure& m_structure;
    std::vector<const std::byte*> m_places;
};

}  // namespace

TransientInputs::TransientInputs(Session& session, const StagePrograms& programs)
    : m_session(session),
      m_programs(programs)
{
    for (const ir::NamedValue& in : session.analysis.program.inputs) {
        const auto file = session.options.transientInputs.find(in.name);
        if (file == session.options.transientInputs.end()) continue;
        const at::Tensor tensor = session.structure.value(in.value);
        if (!tensor.is_contiguous()) continue;
        const auto* const begin = static_cast<const std::byte*>(tensor.const_data_ptr());
        m_files.push_back({in.value, file->second, begin, begin + tensor.nbytes()});
    }
}

void TransientInputs::release(std::size_t stage)
{
    if (m_files.empty()) return;
    Places needed(m_session.analysis, m_session.structure);
    // Values without rows are evaluated from these when they are requested.
    for (const ir::ValueId v : prologueValues(m_session.analysis, {})) needed.include(v);
    for (std::size_t s = stage; s < m_programs.size(); ++s)
        for (const LoopProgram& program : m_programs[s]) needed.include(program);
    std::vector<std::string> spent;
    std::erase_if(m_files, [&](const File& file) {
        if (needed.anyWithin(file.begin, file.end)) return false;
        m_session.structure.forgetInput(file.input);
        spent.push_back(file.path);
        return true;
    });
    if (!spent.empty())
        m_emptying = std::jthread([files = std::move(spent)] { std::ranges::for_each(files, graph::emptyFile); });
}

}  // namespace hopscope::executor
