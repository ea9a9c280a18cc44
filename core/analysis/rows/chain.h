#pragma once

// Private to analysis.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/lowering/synthetic.h"
#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// A chain of emitted operators that stops at the first failure.
class Chain {
public:
    Chain(Emitter& emitter, ir::Op like) : m_emitter(emitter), m_like(std::move(like)) {}

    ValueId call(const std::string& signature, std::vector<ir::Arg> args, const std::vector<std::int64_t>& shape,
                 base::DType dtype)
    {
        ir::Value out;
        out.shape = shape;
        out.dtype = dtype;
        return emitted(signature, std::move(args), out);
    }

    // Emits an operator that computes a number, such as the size of a table, which is `now` on the sample.
    ValueId number(const std::string& signature, std::vector<ir::Arg> args, std::int64_t now)
    {
        ir::Value out;
        out.kind = ir::ValueKind::Int;
        out.number = static_cast<double>(now);
        return emitted(signature, std::move(args), out);
    }

    base::Result<std::vector<ValueId>> done(ValueId v) const
    {
        if (m_error) return tl::unexpected(*m_error);
        return std::vector<ValueId>{v};
    }

private:
    ValueId emitted(const std::string& signature, std::vector<ir::Arg> args, const ir::Value& out)
    {
        if (m_error) return {};
        auto result = m_emitter.emit(syntheticOp(signature, std::move(args), m_like), {out});
        if (result) return (*result)[0];
        m_error = result.error();
        return {};
    }

    Emitter& m_emitter;
    ir::Op m_like;  // its place is that of all operators; the emitter may move the original
    std::optional<base::Error> m_error;
};

inline ValueId castTo(Chain& chain, const RuleContext& c, ValueId v, base::DType dtype)
{
    if (c.value(v).dtype == dtype) return v;
    const std::vector<std::int64_t> shape = c.shape(v);  // emitting moves the original
    return chain.call("to.dtype", {ir::Arg{v}, ir::Arg{dtypeCode(dtype)}, ir::Arg{false}, ir::Arg{false}}, shape,
                      dtype);
}

}  // namespace hopscope::analysis
