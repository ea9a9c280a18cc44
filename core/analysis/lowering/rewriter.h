#pragma once

// Private to analysis: the common base class of passes that rewrite a program.

#include <utility>
#include <vector>

#include "analysis/lowering/synthetic.h"
#include "ir/program.h"

namespace hopscope::analysis {

// Holds the new program: the values of the old one, without its operators.
class Rewriter {
protected:
    explicit Rewriter(const ir::Program& old) : m_new(old) { m_new.ops.clear(); }

    // Appends the next operator, whose results have these ids.
    void append(ir::Op op, const std::vector<ir::ValueId>& outputs)
    {
        op.id = ir::OpId(m_new.ops.size());
        op.outputs = outputs;
        for (const ir::ValueId v : outputs) m_new.values[v.at()].producer = op.id;
        m_new.ops.push_back(std::move(op));
    }

    // Adds a new value like `out`.
    ir::ValueId fresh(ir::Value out)
    {
        out.id = ir::ValueId(m_new.values.size());
        out.origin = ir::Origin::Op;
        m_new.values.push_back(std::move(out));
        return m_new.values.back().id;
    }

    // Adds an operator that the model does not contain, attributed to the module and line of `place`, and returns its
    // result.
    ir::ValueId add(const ir::Op& place, const std::string& signature, std::vector<ir::Arg> args, ir::Value out)
    {
        const ir::ValueId id = fresh(std::move(out));
        append(syntheticOp(signature, std::move(args), place), {id});
        return id;
    }

    // Adds the size of a dimension.
    ir::ValueId size(const ir::Op& place, ir::ValueId v, std::size_t dim)
    {
        ir::Value number;
        number.kind = ir::ValueKind::Int;
        number.number = static_cast<double>(m_new.value(v).shape[dim]);
        return add(place, "scalar::size", {ir::Arg{v}, ir::Arg{static_cast<std::int64_t>(dim)}}, std::move(number));
    }

    // Adds the numbers of all rows, arange(v.size(0)).
    ir::ValueId rowNumbers(const ir::Op& place, ir::ValueId v)
    {
        ir::Value numbers;
        numbers.shape = {m_new.value(v).shape[0]};
        numbers.dtype = base::DType::Int64;
        const ir::Arg none{}, end{size(place, v, 0)};
        return add(place, "arange", {end, ir::Arg{dtypeCode(numbers.dtype)}, none, none, none}, std::move(numbers));
    }

    ir::Program m_new;
};

}  // namespace hopscope::analysis
