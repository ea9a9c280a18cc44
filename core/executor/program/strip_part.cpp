#include <algorithm>

#include "executor/program/fuse.h"

namespace hopscope::executor {

using kernels::StripOp;
using kernels::StripOperand;
using kernels::StripRows;
using kernels::StripStep;

namespace {

kernels::StripElement elementOf(base::DType dtype)
{
    switch (dtype) {
    case base::DType::Float64: return kernels::StripElement::Float64;
    case base::DType::Float16: return kernels::StripElement::Float16;
    case base::DType::BFloat16: return kernels::StripElement::BFloat16;
    default: return kernels::StripElement::Float32;
    }
}

class Builder {
public:
    Builder(const StripRequest& request, const StripRegion& region)
        : m_request(request),
          m_analysis(request.analysis),
          m_region(region)
    {
        m_part.family = region.family;
        m_part.messages = region.messages;
        for (const int i : region.steps) {
            m_acts.emplace(i, *stripAct(m_analysis, step(i), request.uses[static_cast<std::size_t>(i)]));
            const StripAct& act = m_acts.at(i);
            if (act.kind == StripAct::Alias)
                m_roots[resultAt(i)] = rootOf({act.arguments[0].value, act.arguments[0].rows});
            for (const StripArgument& a : act.arguments)
                if (!a.number) m_readers[rootOf({a.value, a.rows})].push_back(i);
        }
        for (const auto& [held, readers] : m_readers) m_left[held] = static_cast<int>(readers.size());
    }

    StripPart build()
    {
        for (const int i : m_region.steps) add(i);
        kernels::setPhases(m_part.program);
        return std::move(m_part);
    }

private:
    using Held = std::pair<ir::ValueId, ir::RowClass>;

    const plan::Step& step(int i) const { return m_request.loop.steps[static_cast<std::size_t>(i)]; }
    Held resultAt(int i) const { return {m_analysis.program.op(step(i).op).outputs.at(0), step(i).rows}; }

    // The value that this one is an alias of, or the value itself.
    Held rootOf(const Held& held) const
    {
        const auto it = m_roots.find(held);
        return it == m_roots.end() ? held : it->second;
    }

    std::int64_t widthOf(ir::ValueId value) const
    {
        std::int64_t width = 1;
        for (const std::int64_t n : rowShape(m_analysis, value)) width *= n;
        return width;
    }

    void add(int i)
    {
        const StripAct& act = m_acts.at(i);
        const Held result = resultAt(i);
        m_part.program.element = elementOf(m_analysis.program.value(result.first).dtype);
        switch (act.kind) {
        case StripAct::Alias:
        case StripAct::Own: return rename(act.arguments[0], result);
        case StripAct::Gather: return gather(i, act.arguments[0], result);
        case StripAct::Aggregate: return aggregate(act, result);
        case StripAct::Compute: return isFactored(i) ? multiplyLater(act, result) : compute(act, result);
        }
    }

    void rename(const StripArgument& from, const Held& result)
    {
        let(from);
        if (m_products.contains(rootOf(result))) return;
        const StripOperand operand = placeOf(from);
        m_places[result] = operand;
        if (operand.from == StripOperand::From::Destination && isOutside(result))
            m_part.outputs.emplace_back(result.first, operand.at);
    }

    void gather(int i, const StripArgument& source, const Held& result)
    {
        StripTableSource table{.rows = StripRows::Gathered, .value = source.value, .on = source.rows};
        table.gather = i;
        m_places[result] = newTable(table, widthOf(source.value));
    }

    void aggregate(const StripAct& act, const Held& result)
    {
        StripStep s;
        s.op = StripOp::Aggregate;
        s.combine = act.combine;
        s.empty = act.empty;
        s.width = widthOf(result.first);
        const StripArgument& message = act.arguments[0];
        let(message);
        const auto product = m_products.find(rootOf({message.value, message.rows}));
        if (product == m_products.end()) {
            s.a = operandOf(message);
        } else {
            const bool plain = product->second[0].inner == 1;
            s.a = operandOf(product->second[plain ? 0 : 1]);
            s.b = operandOf(product->second[plain ? 1 : 0]);
            for (const StripArgument& a : product->second) let(a);
        }
        s.to = newDestination(result, s.width);
        m_part.program.steps.push_back(s);
    }

    // A product that is only added up needs no rows of its own.
    bool isFactored(int i) const
    {
        const StripAct& act = m_acts.at(i);
        if (act.op != StripOp::Mul || step(i).rows != m_region.messages) return false;
        if (act.arguments[0].outer != 1 || act.arguments[1].outer != 1) return false;
        const auto readers = m_readers.find(resultAt(i));
        if (readers == m_readers.end()) return false;
        int aggregations = 0;
        for (const int reader : readers->second) {
            const StripAct& next = m_acts.at(reader);
            const bool sums = next.combine == kernels::Combine::Sum || next.combine == kernels::Combine::Mean;
            if (next.kind == StripAct::Alias) continue;
            if (next.kind != StripAct::Aggregate || !sums) return false;
            ++aggregations;
        }
        return aggregations == 1;
    }

    void multiplyLater(const StripAct& act, const Held& result) { m_products[result] = act.arguments; }

    void compute(const StripAct& act, const Held& result)
    {
        StripStep s;
        s.op = act.op;
        s.parameter = act.parameter;
        s.perDestination = result.second.kind == ir::RowKind::Batch;
        s.width = widthOf(result.first);
        s.a = operandOf(act.arguments[0]);
        if (act.arguments.size() > 1) s.b = operandOf(act.arguments[1]);
        for (const StripArgument& a : act.arguments) let(a);
        s.to = s.perDestination ? newDestination(result, s.width) : newEdge(result, s);
        m_part.program.steps.push_back(s);
    }

    // ---- operands

    StripOperand operandOf(const StripArgument& a)
    {
        StripOperand operand = placeOf(a);
        operand.inner = a.inner;
        operand.outer = a.outer;
        return operand;
    }

    StripOperand placeOf(const StripArgument& a)
    {
        if (a.number) return newTable({.rows = StripRows::Single, .value = {}, .on = {}, .number = *a.number}, 1);
        const Held held{a.value, a.rows};
        if (const auto it = m_places.find(held); it != m_places.end()) return it->second;
        StripTableSource table{.rows = StripRows::Single, .value = a.value, .on = a.rows};
        std::int64_t width = 1;
        if (!m_analysis.hasRows(a.value)) {
            for (const std::int64_t n : m_analysis.program.value(a.value).shape) width *= n;
        } else {
            table.rows = a.rows.kind == ir::RowKind::Owned ? StripRows::Edges : StripRows::Destinations;
            width = widthOf(a.value);
        }
        return m_places[held] = newTable(table, width);
    }

    StripOperand newTable(const StripTableSource& table, std::int64_t width)
    {
        m_part.tables.push_back(table);
        m_part.program.tables.push_back(table.rows);
        m_part.program.tableWidths.push_back(width);
        return {StripOperand::From::Table, static_cast<int>(m_part.tables.size()) - 1};
    }

    // ---- buffers

    void let(const StripArgument& a)
    {
        if (!a.number) --m_left[rootOf({a.value, a.rows})];
    }

    int newDestination(const Held& result, std::int64_t width)
    {
        m_part.program.destinations.push_back(width);
        const int at = static_cast<int>(m_part.program.destinations.size()) - 1;
        m_places[result] = {StripOperand::From::Destination, at};
        if (isOutside(result)) m_part.outputs.emplace_back(result.first, at);
        return at;
    }

    // A buffer of edges: one of the same width whose value is not needed any more, or a new one. The step's own operand
    // may be overwritten where elements stay in their places.
    int newEdge(const Held& result, const StripStep& s)
    {
        int at = -1;
        for (const auto& [buffer, held] : m_holders)
            if (at < 0 && m_part.program.edges[static_cast<std::size_t>(buffer)] == s.width && m_left[held] <= 0 &&
                mayOverwrite(s, buffer))
                at = buffer;
        if (at < 0) {
            m_part.program.edges.push_back(s.width);
            at = static_cast<int>(m_part.program.edges.size()) - 1;
        }
        m_holders[at] = result;
        m_places[result] = {StripOperand::From::Edge, at};
        return at;
    }

    static bool mayOverwrite(const StripStep& s, int buffer)
    {
        for (const StripOperand* const o : {&s.a, &s.b})
            if (o->from == StripOperand::From::Edge && o->at == buffer && (!o->plain() || s.op == StripOp::RowSum))
                return false;
        return true;
    }

    // Whether the value is used by more than the steps of the region.
    bool isOutside(const Held& held) const
    {
        int inside = 0;
        for (const auto& [i, act] : m_acts)
            for (const StripArgument& a : act.arguments) inside += Held{a.value, a.rows} == held ? 1 : 0;
        const auto it = m_request.counts.find(held);
        return it != m_request.counts.end() && it->second > inside;
    }

    const StripRequest& m_request;
    const analysis::Analysis& m_analysis;
    const StripRegion& m_region;
    StripPart m_part;
    std::map<int, StripAct> m_acts;
    std::map<Held, StripOperand> m_places;
    std::map<Held, Held> m_roots;                           // of aliases
    std::map<Held, std::vector<int>> m_readers;             // steps, by roots
    std::map<Held, std::vector<StripArgument>> m_products;  // that are made while they are added up
    std::map<int, Held> m_holders;                          // by buffer of edges, the latest value in it
    std::map<Held, int> m_left;                             // readers to come, by roots
};

}  // namespace

StripPart stripPart(const StripRequest& request, const StripRegion& region) { return Builder(request, region).build(); }

}  // namespace hopscope::executor
