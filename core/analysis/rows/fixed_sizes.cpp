#include "analysis/rows/fixed_sizes.h"

#include <span>

#include "analysis/rows/other_rows.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

// The argument that says how large the result is.
const char* sizeArgument(const ir::Op& op)
{
    using operators::Rule;
    switch (operators::of(op.name).rule) {
    case Rule::Fill:
    case Rule::Expand: return "size";
    case Rule::Reshape: return op.name == "aten::reshape" ? "shape" : "size";
    case Rule::Arange: return "end";
    case Rule::Bincount: return "minlength";
    default: return "";
    }
}

}  // namespace

void noteFixedSize(Builder& builder, const ir::Value& value, const ValueInfo& info)
{
    if (value.origin != ir::Origin::Parameter) return;
    for (std::size_t d = 0; d < info.dims.size(); ++d) {
        if (!builder.analysis.tables.isRow(info.dims[d])) continue;
        const auto [known, fresh] = builder.fixed.emplace(value.shape[d], info.dims[d]);
        if (!fresh && known->second != info.dims[d]) known->second = {};  // two tables of one size
    }
}

ir::Op withTableSizes(Emitter& emitter, ir::Op op)
{
    const std::string argument = sizeArgument(op);
    for (std::size_t i = 0; i < op.argInfo.size(); ++i) {
        if (argument.empty() || op.argInfo[i].name != argument) continue;
        auto* const list = std::get_if<ir::ArgList>(&op.args[i].data);
        for (ir::Arg& size : list ? std::span(*list) : std::span(&op.args[i], 1)) {
            const auto table =
                size.integer() ? emitter.builder().fixed.find(*size.integer()) : emitter.builder().fixed.end();
            if (table == emitter.builder().fixed.end() || !table->second.valid()) continue;
            if (const ValueId rows = rowCount(emitter, table->second, op); rows.valid()) size = ir::Arg{rows};
            return op;
        }
    }
    return op;
}

}  // namespace hopscope::analysis
