#include "executor/loop/staging_plan.h"

#include <algorithm>
#include <bit>

#include "analysis/rows/classes.h"
#include "analysis/stored.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::int64_t leastBytes = 1 << 20;
constexpr std::int64_t mostBytes = 64 << 20;  // a quarter of this takes much longer to copy than to start a copy
constexpr std::int64_t batchesPerLoop = 12;   // at least, where copies are long enough to be hidden

constexpr std::int64_t batchesThatShare = 4;
constexpr double busyBytes = 256 << 20;  // of a tensor, which an operator takes much longer to compute than to start

// Bytes that batches of some loops copy, in and out.
struct Wanted {
    double up = 0, down = 0;
};

class StagingPlan {
public:
    enum class Sharing : std::uint8_t { No, Most };  // of the frontier's rows

    StagingPlan(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
                std::optional<std::int64_t> batch, Sharing sharing = Sharing::Most)
        : m_analysis(analysis),
          m_structure(structure),
          m_choice(choice),
          m_batch(batch),
          m_sharing(sharing)
    {}

    Wanted of(const LoopProgram& program)
    {
        m_program = &program;
        m_all = m_structure.size(program.loop->destination);
        m_count = std::min(m_batch.value_or(m_all), m_all);
        Wanted wanted;
        for (const Instruction& i : program.instructions) wanted.up += in(i);
        for (const Written& w : program.writes)
            if (!m_choice.onlyHere(w.value)) wanted.down += rows(w.rows) * bytesOfRow(w.value);
        return wanted;
    }

private:
    double in(const Instruction& i)
    {
        if (m_choice.skips(i)) return 0;
        switch (i.act) {
        case Act::Read: return rows(i.rows) * (picksThere(i) ? 4 : bytesOfRow(i.value));
        case Act::Positions: return i.owners ? static_cast<double>(m_count + 1) * 4 : rows(i.rows) * 4;
        case Act::Pick:
        case Act::Select:
        case Act::Concat: return rows(i.rows) * 4;
        case Act::Segment:
        case Act::Strips: return static_cast<double>(m_count + 1) * 4;
        default: return 0;
        }
    }

    // Only row numbers are copied for a table on the device.
    [[nodiscard]] bool picksThere(const Instruction& i) const
    {
        return m_choice.holds(i.value) && !m_choice.inOrder(i);
    }

    double bytesOfRow(ir::ValueId value)
    {
        const std::int64_t bytes = rowBytes(m_analysis, value, m_structure.sizes());
        return static_cast<double>(analysis::storedBytes(m_analysis, value, m_program->store, bytes));
    }

    // The average number of rows; for a frontier, an upper bound.
    double rows(const RowClass& on)
    {
        const auto count = static_cast<double>(m_count);
        if (on.kind == RowKind::Batch) return count;
        if (on.kind == RowKind::Owned)
            return static_cast<double>(m_structure.size(on.table)) * count /
                   static_cast<double>(std::max<std::int64_t>(m_all, 1));
        double asking = on.table == m_program->loop->destination ? count : 0;
        for (const plan::FrontierSource& s : m_program->loop->frontier)
            if (s.type == on.table) asking += rows(analysis::owned(m_analysis, s.space, s.owner));
        return m_sharing == Sharing::No ? asking : std::min(asking, static_cast<double>(m_structure.size(on.table)));
    }

    const analysis::Analysis& m_analysis;
    Structure& m_structure;
    const ResidentChoice& m_choice;
    std::optional<std::int64_t> m_batch;
    Sharing m_sharing;
    const LoopProgram* m_program = nullptr;
    std::int64_t m_all = 0, m_count = 0;
};

// LibTorch rounds pinned memory up to a power of two, and pinning takes the system longer than copying: a chunk and the
// page for its alignment fill such a block exactly.
std::int64_t chunkBytes(double wanted, bool chosen)
{
    const double share = chosen ? 1.25 * wanted : wanted / batchesPerLoop;
    const auto bytes = static_cast<std::int64_t>(std::min(share, 1e12));
    const std::int64_t bounded = std::clamp(bytes, leastBytes, mostBytes);
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bounded))) - StagingChunk::page;
}

}  // namespace

SlotBytes slotBytes(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
                    const StagePrograms& programs, std::optional<std::int64_t> batch)
{
    Wanted most;
    StagingPlan plan(analysis, structure, choice, batch);
    for (const auto& loops : programs) {
        for (const LoopProgram& program : loops) {
            const Wanted wanted = plan.of(program);
            most = {std::max(most.up, wanted.up), std::max(most.down, wanted.down)};
        }
    }
    return {chunkBytes(most.up, batch.has_value()), chunkBytes(most.down, batch.has_value())};
}

SlotBytes unsharedBytes(const analysis::Analysis& analysis, Structure& structure, const ResidentChoice& choice,
                        const LoopProgram& program)
{
    const Wanted wanted = StagingPlan(analysis, structure, choice, {}, StagingPlan::Sharing::No).of(program);
    return {static_cast<std::int64_t>(wanted.up), static_cast<std::int64_t>(wanted.down)};
}

ResidentChoice choiceWithJournal(Session& session)
{
    return {session.analysis, session.plan, session.structure.same(), session.device.gpu(), true};
}

BatchRowLimits batchRowLimits(const ResidentChoice& choice, const LoopProgram& program, std::int64_t rows)
{
    BatchRowLimits limits;
    double edgeBytes = 0;  // of the widest row
    for (const Instruction& i : program.instructions) {
        const bool here = i.act == Act::Read && choice.holds(i.value);
        if (i.act == Act::Read && !here && i.rows.kind == RowKind::Frontier)
            limits.together = static_cast<double>((rows + batchesThatShare - 1) / batchesThatShare);
        for (const Register r : i.outputs) {
            const RegisterInfo& made = program.registers[static_cast<std::size_t>(r)];
            if (!here && made.rows.kind == RowKind::Owned) edgeBytes = std::max(edgeBytes, made.bytesPerRow);
        }
    }
    if (limits.together == 0 && edgeBytes > 0) limits.most = busyBytes / edgeBytes;
    return limits;
}

std::unique_ptr<StagingRing> makeRing(Session& session, const StagePrograms& programs)
{
    const ResidentChoice choice = session.steady() ? choiceWithJournal(session) : session.choice;
    const SlotBytes bytes = slotBytes(session.analysis, session.structure, choice, programs, session.options.batch);
    auto ring = std::make_unique<StagingRing>(bytes.up, bytes.down);
    if (!ring->pinned()) session.noteOnce(pageableCopies);
    return ring;
}

}  // namespace hopscope::executor
