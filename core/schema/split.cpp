#include "schema/split.h"

#include <algorithm>
#include <set>

#include "schema/names.h"

namespace hopscope::schema {

namespace {

using analysis::Analysis;
using ir::ValueId;

std::string publicName(const Analysis& analysis, ValueId id)
{
    const ir::Program& program = analysis.program;
    if (program.value(id).origin == ir::Origin::Input) return program.value(id).name;
    for (const ir::NamedValue& output : program.outputs)
        if (output.value == id) return output.name;
    return {};
}

TensorSpec specOf(const Analysis& analysis, const analysis::ValueNames& names, ValueId id)
{
    return {.value = id,
            .name = publicName(analysis, id),
            .label = names[id],
            .dtype = analysis.program.value(id).dtype,
            .shape = symbolicShape(analysis, id),
            .rowSpaces = rowSpaces(analysis, id)};
}

template <class T>
void addOnce(std::vector<T>& list, const T& item)
{
    if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

// Gathers the parts of one Split and every value they name.
struct Collector {
    const Analysis& analysis;
    Split split;
    std::set<ValueId> values;

    ValueId named(ValueId id)
    {
        values.insert(id);
        return id;
    }

    void addStage(const plan::Stage& stage);
    void addRead(SplitStage& stage, ValueId id);
    void addInputsAndOutputs();
    void addTensors();
};

void Collector::addRead(SplitStage& stage, ValueId id)
{
    const ir::Value& value = analysis.program.value(id);
    if (value.origin == ir::Origin::Parameter || value.origin == ir::Origin::Constant) return;
    addOnce(stage.inputs, named(id));
    if (value.origin == ir::Origin::Op && analysis.info(id).structureOnly) addOnce(split.prologue, named(id));
}

void Collector::addStage(const plan::Stage& stage)
{
    SplitStage result;
    result.index = stage.index;
    for (const plan::Loop& loop : stage.loops) {
        addOnce(result.destinations, analysis.tables.spaceName(loop.destination));
        for (const plan::Access& read : loop.reads) addRead(result, read.value);
        for (const plan::Access& write : loop.writes) addOnce(result.outputs, named(write.value));
        for (const plan::Step& reduction : loop.reductions)
            for (ValueId id : analysis.program.op(reduction.op).outputs) addOnce(result.outputs, named(id));
    }
    for (ir::OpId op : stage.rowless)
        for (ValueId id : analysis.program.op(op).outputs) addOnce(result.outputs, named(id));
    split.stages.push_back(std::move(result));
}

void Collector::addInputsAndOutputs()
{
    for (const ir::NamedValue& input : analysis.program.inputs) addOnce(split.inputs, named(input.value));
    for (const ir::NamedValue& output : analysis.program.outputs) addOnce(split.outputs, named(output.value));
}

void Collector::addTensors()
{
    std::set<std::string> spaces;
    const analysis::ValueNames names(analysis);
    for (ValueId id : values) {
        split.tensors.push_back(specOf(analysis, names, id));
        for (const std::optional<std::string>& space : split.tensors.back().rowSpaces)
            if (space) spaces.insert(*space);
    }
    for (const SplitStage& stage : split.stages) spaces.insert(stage.destinations.begin(), stage.destinations.end());
    split.rowSpaces.assign(spaces.begin(), spaces.end());
}

}  // namespace

Split makeSplit(const plan::Plan& plan, const Analysis& analysis, std::optional<Verification> verification)
{
    Collector collector{.analysis = analysis, .split = {}, .values = {}};
    collector.split.strategy = plan.strategy;
    collector.split.hashes = plan.hashes;
    collector.split.verification = std::move(verification);
    collector.addInputsAndOutputs();
    for (const plan::Stage& stage : plan.stages) collector.addStage(stage);
    for (const plan::Checkpoint& c : plan.checkpoints)
        collector.split.checkpoints.push_back(
            {.value = collector.named(c.value), .stage = c.stage, .output = c.output});
    collector.addTensors();
    return std::move(collector.split);
}

}  // namespace hopscope::schema
