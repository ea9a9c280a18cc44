#include "export/rerun.h"

#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cctype>

#include "executor/failure.h"
#include "export/inputs.h"
#include "export/size_checks.h"
#include "loader/tensors.h"

namespace hopscope::exporter {

using schema::ArgumentKind;
using schema::CodeRows;
using schema::CodeRowsKind;
using schema::MergeKind;

namespace {

// The message of an operator's exception, without the TorchScript stack.
std::string lastLine(std::string text)
{
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
    const std::size_t line = text.rfind('\n');
    if (line != std::string::npos) text.erase(0, line + 1);
    for (const std::string_view kind : {"RuntimeError: ", "AssertionError: "})
        if (text.starts_with(kind)) text.erase(0, kind.size());
    return text;
}

class Rerun {
public:
    Rerun(torch::jit::Module module, const schema::Split& split, const base::TensorMap& inputs)
        : m_module(std::move(module)),
          m_split(split),
          m_code(*split.code)
    {
        for (const schema::TensorSpec& spec : split.tensors)
            if (const auto it = inputs.find(spec.name); it != inputs.end() && isInput(spec.value))
                m_values[spec.value] = m_inputs[spec.name] = loader::toTensor(it->second);
        for (const schema::CodeWeight& w : m_code.weights) m_values[w.value] = m_module.attr(w.attribute).toTensor();
    }

    base::TensorMap run()
    {
        prologue();
        for (const schema::CodeLoop& loop : m_code.loops) runLoop(loop);
        return outputs();
    }

private:
    bool isInput(ir::ValueId value) const { return std::ranges::find(m_split.inputs, value) != m_split.inputs.end(); }

    void prologue()
    {
        for (const auto& entry : made()) m_made[entry.key().toStringRef()] = entry.value().toTensor();
        for (const schema::TensorSpec& spec : m_split.tensors) adopt(spec.value);
        for (const schema::CodeLoop& loop : m_code.loops)
            for (const schema::CodeArgument& a : loop.arguments) adopt(a.value);
        for (const schema::CodeArgument& a : m_code.results) adopt(a.value);
        for (const schema::CodeTable& table : m_code.tables) m_tables[table.name] = &table;
        for (const schema::CodeColumn& c : m_code.columns) checkColumn(c);
    }

    // The prologue asserts the properties of a graph that the code relies on.
    c10::impl::GenericDict made()
    {
        std::vector<c10::IValue> arguments;
        for (const std::string& name : m_code.prologue) arguments.emplace_back(m_inputs.at(name));
        try {
            return m_module.get_method("prologue")(arguments).toGenericDict();
        } catch (const std::exception& e) {
            executor::raise(base::ErrorCode::Input, "the graph does not fit this export: " + lastLine(e.what()));
        }
    }

    void checkColumn(const schema::CodeColumn& column) const
    {
        if (column.tensor.empty()) return;
        const at::Tensor& rows = m_made.at(column.tensor);
        const std::int64_t size = this->size(column.target);
        if (rows.numel() == 0) return;
        if (rows.min().item<std::int64_t>() < 0 || rows.max().item<std::int64_t>() >= size)
            executor::raise(base::ErrorCode::Input, "the graph does not fit this export: " + column.table +
                                                        " refers to a row that does not exist: the number of rows of " +
                                                        column.target + " is " + std::to_string(size));
    }

    void adopt(ir::ValueId value)
    {
        if (!value.valid()) return;
        if (const auto it = m_made.find(ir::valueName(value)); it != m_made.end()) m_values[value] = it->second;
    }

    // ---- rows

    std::int64_t size(const std::string& table) const
    {
        return m_made.at(m_tables.at(table)->size).item<std::int64_t>();
    }

    at::Tensor column(const std::string& table, const std::string& key) const
    {
        for (const schema::CodeColumn& c : m_code.columns)
            if (c.table == table && c.key == key)
                return c.tensor.empty() ? at::arange(size(table)) : m_made.at(c.tensor);
        executor::raise(base::ErrorCode::Internal, "the schema has no column " + key + " of " + table);
    }

    // All rows of a table, in the order that a batch has them; a frontier may hold more rows than are gathered from.
    at::Tensor rows(const CodeRows& kind) const
    {
        if (kind.kind != CodeRowsKind::Owned) return at::arange(size(kind.table));
        return at::argsort(column(kind.table, kind.key), /*stable=*/true, 0, false);
    }

    at::Tensor places(const at::Tensor& globals, const CodeRows& in) const
    {
        if (in.kind != CodeRowsKind::Owned) return globals;
        const at::Tensor order = rows(in);
        const at::Tensor inverse = at::empty_like(order);
        inverse.index_copy_(0, order, at::arange(order.numel()));
        return inverse.index_select(0, globals);
    }

    at::Tensor order(const schema::CodeArgument& a) const
    {
        const at::Tensor own = rows(a.rows.at(0));
        at::Tensor order = at::empty_like(own);
        std::int64_t start = 0;
        for (std::size_t p = 1; p < a.rows.size(); ++p) {
            const std::int64_t end = start + size(a.rows[p].table);
            const at::Tensor inside = at::nonzero(at::logical_and(own >= start, own < end)).reshape({-1});
            order.index_copy_(0, inside, places(own.index_select(0, inside) - start, a.rows[p]) + start);
            start = end;
        }
        return order;
    }

    // ---- loops

    c10::IValue argument(const schema::CodeArgument& a) const
    {
        switch (a.kind) {
        case ArgumentKind::Rows: return m_values.at(a.value).index_select(a.dim, rows(a.rows.at(0)));
        case ArgumentKind::Whole: return m_values.at(a.value);
        case ArgumentKind::Count: return rows(a.rows.at(0)).numel();
        case ArgumentKind::Size: return size(a.table);
        case ArgumentKind::Positions:
            return places(column(a.table, a.key).index_select(0, rows(a.rows.at(0))), a.rows.at(1));
        case ArgumentKind::Parents:
            return places(m_made.at(m_tables.at(a.rows.at(0).table)->parents).index_select(0, rows(a.rows[0])),
                          a.rows.at(1));
        case ArgumentKind::Order: break;
        }
        return order(a);
    }

    std::vector<at::Tensor> call(const std::string& method, const std::vector<schema::CodeArgument>& arguments)
    {
        std::vector<c10::IValue> values;
        for (const schema::CodeArgument& a : arguments) values.push_back(argument(a));
        return m_module.get_method(method)(values).toTensorVector();
    }

    void runLoop(const schema::CodeLoop& loop)
    {
        const std::vector<at::Tensor> made = call(loop.method, loop.arguments);
        std::size_t next = 0;
        for (const schema::CodeResult& r : loop.results) {
            const std::size_t tensors = r.merge ? static_cast<std::size_t>(std::max(r.merge->tensors, 1)) : 1;
            if (tensors > made.size() - next)
                executor::raise(base::ErrorCode::Internal,
                                loop.method + " returns fewer tensors than schema.json lists");
            const std::vector<at::Tensor> parts(made.begin() + static_cast<std::ptrdiff_t>(next),
                                                made.begin() + static_cast<std::ptrdiff_t>(next + tensors));
            next += tensors;
            m_values[r.value] = r.merge ? merged(r, parts) : stored(r, parts.at(0));
        }
    }

    at::Tensor stored(const schema::CodeResult& r, const at::Tensor& made) const
    {
        at::Tensor store = at::empty_like(made);
        return store.index_copy_(r.dim, rows(r.rows), made);
    }

    at::Tensor merged(const schema::CodeResult& r, const std::vector<at::Tensor>& parts) const
    {
        const schema::CodeMerge& m = *r.merge;
        const auto spec = std::ranges::find(m_split.tensors, r.value, &schema::TensorSpec::value);
        if (spec == m_split.tensors.end())
            executor::raise(base::ErrorCode::Internal, "schema.json does not list " + ir::valueName(r.value));
        const at::ScalarType dtype = loader::scalarType(spec->dtype);
        if (schema::isScatter(m.kind)) return scattered(m, parts).to(dtype);
        const auto count = static_cast<double>(rows(r.rows).numel() * m.perRow);
        at::Tensor value = parts.at(0);
        if (m.kind == MergeKind::Mean) value = value / count;
        if (m.kind == MergeKind::Var || m.kind == MergeKind::Std) value = parts.at(1) / (count - m.correction);
        if (m.kind == MergeKind::Std || m.kind == MergeKind::Norm2) value = value.sqrt();
        return value.reshape(m.shape).to(dtype);
    }

    static at::Tensor scattered(const schema::CodeMerge& m, const std::vector<at::Tensor>& parts)
    {
        const at::Tensor& value = parts.at(0);
        const at::Tensor start = parts.back().to(value.scalar_type());
        if (m.kind == MergeKind::ScatterSum) return start + value;
        const at::Tensor& hits = parts.at(1);
        if (m.kind == MergeKind::ScatterMean)
            return at::where(hits > 0, m.includeSelf ? (value + start) / (hits + 1) : value / hits, start);
        if (!m.includeSelf) return at::where(hits > 0, value, start);
        return m.kind == MergeKind::ScatterMax ? at::maximum(value, start) : at::minimum(value, start);
    }

    base::TensorMap outputs()
    {
        std::vector<at::Tensor> rowless;
        if (m_module.find_method("results")) rowless = call("results", m_code.results);
        base::TensorMap found;
        std::size_t next = 0;
        for (const schema::CodeOutput& o : m_code.outputs)
            found[o.name] = loader::toView((o.rows ? m_values.at(o.value) : rowless.at(next++)).contiguous());
        return found;
    }

    torch::jit::Module m_module;
    const schema::Split& m_split;
    const schema::Code& m_code;
    std::map<std::string, at::Tensor> m_inputs, m_made;  // by name; results of the prologue
    std::map<ir::ValueId, at::Tensor> m_values;
    std::map<std::string, const schema::CodeTable*> m_tables;
};

}  // namespace

base::Result<base::TensorMap> rerun(const std::string& path, const schema::Split& split, const base::TensorMap& inputs,
                                    loader::Extent extent)
{
    const base::TensorMap all = withSizes(inputs);
    if (const base::Status fits = checkInputs(split, all); !fits) return base::forward(fits);
    const c10::InferenceMode inference;
    try {
        torch::jit::Module module = torch::jit::load(path, at::kCPU);
        if (module.hasattr(ofAPart)) module.setattr(ofAPart, extent == loader::Extent::Part);
        return Rerun(std::move(module), split, all).run();
    } catch (const executor::Failure& failure) {
        return tl::unexpected(failure.error);
    } catch (const std::exception& e) {
        return base::fail(base::ErrorCode::Internal, std::string("the exported code fails: ") + e.what(),
                          "this is a bug in Hopscope; hopscope-engine run needs no export");
    }
}

}  // namespace hopscope::exporter
