#include "analysis/rows/fixed_sizes.h"

#include <span>

#include "analysis/rows/chain.h"
#include "analysis/rows/other_rows.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

// Numbers of graphs are small, as widths are: they are read where a table is made, and not where one is reshaped.
bool mayBeSize(const Builder& builder, const ir::Op& op, SpaceId table)
{
    using operators::Rule;
    const Rule rule = operators::of(op.name).rule;
    return table.valid() && (!builder.graphs.contains(table) || (rule != Rule::Reshape && rule != Rule::Expand));
}

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

void note(Builder& builder, std::int64_t rows, SpaceId table)
{
    const auto [known, fresh] = builder.fixed.emplace(rows, table);
    if (!fresh && known->second != table) known->second = {};  // two tables of one size
}

// The number of rows of a table. Where no value has its rows yet, the number in the file counts them, also those that no
// row number names.
ValueId sizeOfTable(Emitter& emitter, SpaceId table, std::int64_t rows, const ir::Op& place)
{
    const ValueId known = rowCount(emitter, table, place);
    Analysis& a = emitter.builder().analysis;
    for (std::size_t v = 0; !known.valid() && v < a.values.size(); ++v) {
        const auto& role = a.values[v].role;
        if (!role || role->target != table || a.program.values[v].origin != ir::Origin::Input) continue;
        a.tables.spaces[table.at()].rows = rows;
        Chain chain(emitter, place);
        const ValueId counts =
            chain.call("bincount", {ir::Arg{ValueId(v)}, {}, ir::Arg{rows}}, {rows}, base::DType::Int64);
        return counts.valid() ? rowCount(emitter, table, place) : counts;
    }
    return known;
}

}  // namespace

void noteFixedSize(Builder& builder, const ir::Value& value, const ValueInfo& info)
{
    if (value.origin != ir::Origin::Parameter) return;
    for (std::size_t d = 0; d < info.dims.size(); ++d)
        if (builder.analysis.tables.isRow(info.dims[d])) note(builder, value.shape[d], info.dims[d]);
}

void noteGraphSizes(Builder& builder, const InputSchema& schema)
{
    for (const std::string& graphs : schema.gathered)
        if (const auto rows = schema.sizes.find(graphs); rows != schema.sizes.end()) {
            builder.graphs.insert(builder.node(graphs));
            note(builder, rows->second, builder.node(graphs));
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
            if (table == emitter.builder().fixed.end() || !mayBeSize(emitter.builder(), op, table->second)) continue;
            const ValueId rows = sizeOfTable(emitter, table->second, table->first, op);
            if (rows.valid()) size = ir::Arg{rows};
            return op;
        }
    }
    return op;
}

}  // namespace hopscope::analysis
