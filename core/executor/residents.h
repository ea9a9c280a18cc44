#pragma once

// Private to executor: tables, and the graph's structure, that stay on a GPU while stages use them, as the plan has chosen.
// Batches then use their rows where they lie, and what is not copied up for each batch need not come down either. Used by
// the thread that runs the plan; `holds`, `structure` and `skips` by any thread.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "executor/block.h"
#include "executor/loop_program.h"
#include "executor/structure.h"

namespace hopscope::executor {

// One thing that a loop finds on the device.
struct ResidentPart {
    enum Kind : std::uint8_t {
        Table,    // `value`, all rows in their order
        Owned,    // `value`, an edge table, in the order of the adjacency of `rows`
        Columns,  // what `key` names for the rows of `rows`, in the order of its adjacency
        Offsets,  // where the rows of each destination begin
        Store,    // `value`, which the loop makes
    } kind = Table;
    ir::ValueId value{};
    ir::RowClass rows{};
    ir::SpaceId space{};
    ir::KeyId key{};
    auto operator<=>(const ResidentPart&) const = default;
};

// One that is not there yet, and what is copied for it: a store is made on the device.
struct ResidentLoad {
    ResidentPart part;
    std::int64_t bytes = 0;
    plan::Bytes copied;
};

// Which parts follow from a plan's choice.
class ResidentChoice {
public:
    using Held = std::function<bool(const ResidentPart&)>;

    // Nothing stays on a CPU.
    ResidentChoice(const analysis::Analysis& analysis, const plan::Plan& plan, bool gpu);

    [[nodiscard]] bool holds(ir::ValueId value) const { return m_values.contains(value); }
    [[nodiscard]] bool structure() const { return m_structure; }
    // Whether the store of a value is needed on the device alone.
    [[nodiscard]] bool onlyHere(ir::ValueId value) const { return holds(value) && !m_outputs.contains(value); }
    // Whether an instruction finds all that it needs on the device, if the batch's destinations are in order.
    [[nodiscard]] bool skips(const Instruction& i) const;
    // In the order of their first use, each once.
    [[nodiscard]] std::vector<ResidentPart> parts(const LoopProgram& program) const;
    // On the device.
    std::int64_t bytes(const ResidentPart& part, Structure& structure) const;
    // What a loop adds to the parts that are `held`: a store of an earlier loop is a table to later ones.
    std::vector<ResidentLoad> added(const LoopProgram& program, const Held& held, Structure& structure) const;
    // Whether a later stage than `stage` uses the part.
    [[nodiscard]] bool usedAfter(const ResidentPart& part, std::size_t stage,
                                 const std::vector<std::vector<LoopProgram>>& programs) const;

private:
    std::set<ir::ValueId> m_values, m_outputs;
    bool m_structure = false;
    const analysis::Analysis& m_analysis;
};

class Session;

class Residents {
public:
    Residents(Session& session, const ResidentChoice& choice) : m_session(session), m_choice(choice) {}

    [[nodiscard]] const ResidentChoice& choice() const { return m_choice; }
    // Before the batches of a loop; gives the bytes that were copied: rows of tables, and structure.
    plan::Bytes load(const LoopProgram& program);
    // After a stage: what no later one uses.
    void drop(std::size_t stage, const std::vector<std::vector<LoopProgram>>& programs);

    const at::Tensor& part(const ResidentPart& part) const;
    // In a dry run, one row stands for all of those that something stands for: whoever picks rows then picks the first.
    const at::Tensor& table(ir::ValueId value);

private:
    at::Tensor make(const ResidentPart& part);
    at::Tensor ownedRows(const ResidentPart& part);
    at::Tensor columns(const ResidentPart& part);
    at::Tensor offsets(const ResidentPart& part);
    at::Tensor uploaded(const at::Tensor& host);
    at::Tensor standIn(ir::ValueId value);

    Session& m_session;
    const ResidentChoice& m_choice;
    std::map<ResidentPart, at::Tensor> m_parts;
};

}  // namespace hopscope::executor
