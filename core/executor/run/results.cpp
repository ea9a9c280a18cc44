#include "executor/run/results.h"

#include <algorithm>
#include <filesystem>

#include "base/proc.h"
#include "executor/calls/call.h"
#include "loader/tensors.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastBytes = 1 << 20;  // of a file: fewer take less time than a thread
// The system starts writing new pages to the disk once they take a tenth of the memory.
constexpr std::int64_t shareOfMemory = 16;

std::int64_t freeSpace(const std::string& folder)
{
    std::error_code unknown;
    const std::uintmax_t free = std::filesystem::space(folder, unknown).available;
    return unknown ? 0 : static_cast<std::int64_t>(free);
}

}  // namespace

void Results::publish()
{
    try {
        for (const ir::NamedValue& o : m_session.analysis.program.outputs)
            m_session.report.outputs.push_back(output(o));
        addCheckpoints();
        m_session.spares.finishShortening();
        for (Store* store : m_publish) {
            store->publish();
            m_published.push_back(store->file());
        }
    } catch (...) {
        if (m_session.options.journal) throw;  // a later process takes them over
        for (const std::string& file : m_published) std::filesystem::remove(file);
        throw;
    }
}

StoredTensor Results::output(const ir::NamedValue& o)
{
    const analysis::Analysis& a = m_session.analysis;
    if (a.program.value(o.value).kind != ir::ValueKind::Tensor) return inMemory(o, number(o.value));
    if (!a.hasRows(o.value)) return inMemory(o, m_session.whole(o.value));
    Store* const made = stored(o.value);
    const bool first = made && std::ranges::find(m_publish, made) == m_publish.end();
    Store& store = first ? *made : copied(o);
    m_publish.push_back(&store);
    return {.value = o.value, .name = o.name, .tensor = store.view(), .file = store.file()};
}

// null: it is no store.
Store* Results::stored(ir::ValueId value)
{
    if (!m_session.stores.contains(value)) return nullptr;
    std::shared_ptr<Store>& known = m_stored[value];
    if (!known) known = m_session.inInputOrder(value);
    return known.get();
}

at::Tensor Results::number(ir::ValueId value)
{
    return tensorOf(m_session.structure.numbers().evaluate(value, m_session.structure.sizes()));
}

StoredTensor Results::inMemory(const ir::NamedValue& o, const at::Tensor& value)
{
    return {.value = o.value, .name = o.name, .tensor = loader::toView(value.cpu().contiguous()), .file = {}};
}

// A result that is an input, follows from structure alone, or appears under two names.
Store& Results::copied(const ir::NamedValue& o)
{
    const Store* const made = stored(o.value);
    const at::Tensor table = made ? made->tensor() : m_session.inputTable(o.value);
    m_copies.push_back(std::make_unique<Store>(m_session.options.folder, o.name, o.name,
                                               m_session.analysis.program.value(o.value).dtype, table.sizes().vec(),
                                               m_session.analysis.rowDim(o.value), m_session.structure.scratch()));
    m_copies.back()->writeAll(table);
    return *m_copies.back();
}

void Results::addCheckpoints()
{
    for (const plan::Checkpoint& c : m_session.plan.checkpoints) {
        if (c.output || !m_session.stores.contains(c.value)) continue;
        // The mapping outlives its file, which is never published. Pinned memory does not outlive the run.
        const std::shared_ptr<Store> store = m_session.inInputOrder(c.value);
        const bool pinned = m_session.choice.divides(c.value);
        m_session.report.checkpoints.push_back(
            {.value = c.value,
             .name = ir::valueName(c.value),
             .tensor = pinned ? loader::toView(store->tensor().clone()) : store->view(),
             .file = {}});
    }
}

void prepareResults(Session& session, const StagePrograms& programs)
{
    if (!session.device.gpu() || session.options.journal) return;
    std::vector<ir::ValueId> results;
    std::int64_t bytes = 0, all = 0;
    for (const auto& loops : programs)
        for (const LoopProgram& program : loops)
            for (const Written& w : program.writes) {
                if (session.choice.onlyHere(w.value)) continue;
                const std::int64_t size = session.storeBytes(w.value);
                all += size;
                if (!session.isPublished(w.value) || size < leastBytes) continue;
                results.push_back(w.value);
                bytes += size;
            }
    if (bytes > base::availableMemory() / shareOfMemory || all > freeSpace(session.options.folder)) return;
    session.ready.begin(std::move(results), [&session](ir::ValueId value) { return session.storeInFile(value); });
}

}  // namespace hopscope::executor
