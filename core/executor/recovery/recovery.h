#pragma once

// Private to executor: finds the work that a run need not repeat: an earlier process recorded it in the journal, and
// its rows are unchanged.

#include <map>
#include <set>
#include <vector>

#include "executor/loop/chunk_log.h"
#include "executor/loop/prologue.h"
#include "executor/rows/ranges.h"

namespace hopscope::executor {

// The remaining work of a loop.
struct Remainder {
    bool needed = true;       // its results are read
    std::vector<Chunk> kept;  // by first destination
    Ranges ranges;            // to be computed
};

class Recovery {
public:
    // Create it after the prologue. Opens the stores that are needed, reads their rows back, which is linear in their
    // bytes, and takes them over. Reductions of finished parts are restored.
    Recovery(Session& session, const StagePrograms& programs, const std::vector<Chunk>& found);

    [[nodiscard]] const Remainder& of(const LoopNumber& number) const { return m_left.at(number); }
    [[nodiscard]] const ResumeReport& report() const { return m_report; }

private:
    void sort(const std::vector<Chunk>& found);
    Remainder examine(const LoopProgram& program, const LoopNumber& number);
    void keepIntact(const LoopProgram& program, Chunks& chunks, const std::set<ir::ValueId>& values);
    void keepTotals(const LoopProgram& program, Chunks& chunks);
    void keepPrefix(const LoopProgram& program, Chunks& chunks);
    void need(const LoopProgram& program);
    std::set<ir::ValueId> written(const LoopProgram& program, bool onlyNeeded) const;

    Session& m_session;
    std::map<LoopNumber, Chunks> m_found;
    std::map<LoopNumber, Remainder> m_left;
    std::set<ir::ValueId> m_needed;
    ResumeReport m_report;
};

}  // namespace hopscope::executor
