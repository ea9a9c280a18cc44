#pragma once

// Private to export: writes the method that computes one loop of a stage for a batch. analysis/rows/classes.h yields
// the rows that an operator needs, as for the executor. The code has no fusion and does not read tables in place.

#include "analysis/rows/classes.h"
#include "export/method_writer.h"
#include "plan/plan.h"

namespace hopscope::exporter {

class LoopWriter {
public:
    // `stored` lists the values that earlier stages write.
    LoopWriter(Context& context, const plan::Loop& loop, const std::set<ir::ValueId>& stored, std::string name);

    // Writes the method. Raises Unsupported for loops that no runner can run.
    schema::CodeLoop run();
    Method& method() { return m_writer.method(); }

private:
    using Held = std::pair<ir::ValueId, ir::RowClass>;
    using Operands = std::vector<analysis::OperandRows>;

    Operands operandsOf(ir::OpId op, const ir::RowClass& rows) const;
    void step(const plan::Step& s);
    std::string fetch(ir::ValueId value, const ir::RowClass& rows);
    bool inFrontier(ir::ValueId value, ir::SpaceId type) const;
    std::string narrow(ir::ValueId value, const ir::RowClass& rows);
    std::string read(ir::ValueId value, const ir::RowClass& rows);
    std::string local(ir::ValueId value, const ir::RowClass& rows);
    void call(ir::OpId op, const ir::RowClass& rows, const Operands& operands);
    void rearrange(const plan::Step& s, const Operands& operands);
    void sparseProduct(const plan::Step& s, const Operands& operands);
    std::string scaled(const plan::Step& s, const Operands& operands, const std::string& product);
    ir::ValueId entries(ir::ValueId matrix) const;

    bool renumbered(const ir::Op& op, const analysis::OperandRows& o) const;
    ir::RowClass numberedIn(const ir::Op& op, const ir::RowClass& rows, const Operands& operands) const;
    Text indexText(const ir::Op& op, const ir::RowClass& rows, const analysis::OperandRows& o, const Operands& operands,
                   const SizeText& sizes);
    Surroundings around(ir::OpId op, const ir::RowClass& rows, const Operands& operands);
    std::optional<Text> localSize(const ir::RowClass& rows, const Operands& operands, ir::SpaceId space);
    SizeText requiredSize(ir::OpId op, const ir::RowClass& rows, const Operands& operands);

    void reduce(const plan::Step& s);
    Operands reducedOperands(const plan::Step& s) const;

    std::string positions(const ir::RowClass& on, ir::SpaceId space, ir::KeyId key, const ir::RowClass& in);
    std::string count(const ir::RowClass& rows);
    schema::CodeRows rowsOf(const ir::RowClass& rows);
    std::string labelOf(const ir::RowClass& rows) const;
    std::vector<schema::CodeFrontier> frontier();
    [[noreturn]] void refuse(const std::string& what, ir::OpId op) const;

    Context& m_context;
    const analysis::Analysis& m_analysis;
    const ir::Program& m_program;
    const plan::Loop& m_loop;
    const std::set<ir::ValueId>& m_stored;
    MethodWriter m_writer;
    std::set<Held> m_computed, m_used;
    std::map<Held, std::string> m_held;
    std::vector<schema::CodeResult> m_results;
    std::vector<Text> m_returned;
};

// Returns the tensors that a batch contributes to a reduction over all rows, and sets how they are merged
// (executor/calls/reduce.h). `call` applies the operator itself to the batch's rows.
std::vector<Text> contributionText(const analysis::Analysis& analysis, const ir::Op& op, const Surroundings& around,
                                   Method& method, const std::function<std::string()>& call, schema::CodeMerge& merge);

}  // namespace hopscope::exporter
