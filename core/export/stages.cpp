#include "export/stages.h"

#include "export/loop_writer.h"

namespace hopscope::exporter {

namespace {

std::string methodName(const Context& context, const plan::Stage& stage, const plan::Loop& loop)
{
    const std::string name = "stage_" + std::to_string(stage.index.number);
    return stage.loops.size() == 1 ? name : name + "_" + identifier(context.ids.space(loop.destination));
}

// Values without rows, and numbers.
void writeResults(Context& context, Stages& stages)
{
    const analysis::Analysis& a = context.analysis;
    MethodWriter writer(context, "results");
    std::vector<Text> returned;
    for (const ir::NamedValue& output : a.program.outputs) {
        const bool tensor = a.program.value(output.value).kind == ir::ValueKind::Tensor;
        const bool rows = tensor && a.hasRows(output.value);
        stages.code.outputs.push_back({.name = output.name, .value = output.value, .rows = rows});
        if (rows && a.program.value(output.value).origin == ir::Origin::Op && a.available(output.value))
            context.needs.values.insert(output.value);
        if (rows) {
            for (const ir::SpaceId s : a.info(output.value).dims)
                if (s.valid()) context.needs.sizes.insert(s);
        } else if (tensor) {
            returned.emplace_back(writer.whole(output.value));
        } else {
            const Numbers numbers(a, [&](ir::ValueId v) { return writer.whole(v); });
            const Text number = numbers.value(output.value, [&](ir::SpaceId s) { return writer.size(s); }).text;
            const ir::ValueKind kind = a.program.value(output.value).kind;
            const bool real = kind == ir::ValueKind::Float;
            const base::DType type = real                          ? base::DType::Float64
                                     : kind == ir::ValueKind::Bool ? base::DType::Bool
                                                                   : base::DType::Int64;
            returned.push_back(Text("torch.scalar_tensor(") + number + ", dtype=" + dtypeText(type) + ")");
        }
    }
    if (returned.empty()) return;
    writer.method().returns(listed(returned));
    writer.method().prune();
    stages.code.results = writer.arguments();
    stages.results = writer.method();
}

// Tables whose rows are inputs, or weights, or results of stages.
void writeLoops(Context& context, const plan::Plan& plan, Stages& stages)
{
    std::set<ir::ValueId> stored;
    for (const plan::Stage& stage : plan.stages) {
        for (const plan::Loop& loop : stage.loops) {
            LoopWriter writer(context, loop, stored, methodName(context, stage, loop));
            schema::CodeLoop code = writer.run();
            code.stage = stage.index;
            stages.code.loops.push_back(std::move(code));
            stages.loops.push_back(writer.method());
        }
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Access& w : loop.writes) stored.insert(w.value);
    }
}

}  // namespace

Stages writeStages(const analysis::Analysis& analysis, const plan::Plan& plan, const loader::ModelLimits& limits)
{
    Context context(analysis);
    Stages stages;
    writeLoops(context, plan, stages);
    writeResults(context, stages);
    for (const schema::CodeLoop& loop : stages.code.loops)
        for (const schema::CodeResult& result : loop.results)
            for (const ir::SpaceId s : analysis.info(result.value).dims)
                if (s.valid()) context.needs.sizes.insert(s);
    Prologue prologue = writePrologue(context, limits);
    stages.prologue = std::move(prologue.method);
    stages.code.prologue = std::move(prologue.inputs);
    stages.code.tables = std::move(prologue.tables);
    stages.code.columns = std::move(prologue.columns);
    stages.code.weights = context.weights.list();
    return stages;
}

}  // namespace hopscope::exporter
