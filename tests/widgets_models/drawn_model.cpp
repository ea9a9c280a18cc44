#include "widgets_models/drawn_model.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace hopscope::drawn {

namespace {

using protocol::ModelRecord;
using protocol::NodeKind;
using protocol::OpId;
using protocol::Origin;
using protocol::ValueId;

ValueId addValue(ModelRecord& model, const std::string& id, Origin origin, OpId producer, bool structure)
{
    protocol::ValueRecord value;
    value.id = id;
    value.origin = origin;
    value.dtype = structure ? "int64" : "float32";
    value.structureOnly = structure;
    value.producer = producer;
    value.bytes = 100;
    value.shape =
        origin == Origin::Parameter ? std::vector<std::string>{"8", "8"} : std::vector<std::string>{"|node|", "8"};
    value.spaces.resize(2);
    if (origin != Origin::Parameter) value.spaces[0] = "node";
    if (origin != Origin::Op) value.name = id;
    const ValueId made(model.values.size());
    model.valuesById[id] = made;
    model.values.push_back(std::move(value));
    return made;
}

ValueId operand(ModelRecord& model, const std::string& word)
{
    const std::string id = word.front() == '%' ? word.substr(1) : "v." + word;
    if (const ValueId known = model.findValue(id); known.valid()) return known;
    if (word.front() != '%') throw std::invalid_argument("nothing makes " + word);
    return addValue(model, id, Origin::Parameter, {}, false);
}

void addLine(ModelRecord& model, const std::string& line)
{
    std::istringstream words(line);
    protocol::OpRecord op;
    std::string kind, module, word;
    words >> op.id >> kind >> op.name >> module >> op.depth;
    op.kind = base::fromName<NodeKind>(kind).value();
    op.depthModule = op.depthOp = op.depth;
    if (module != "-") {
        op.module = module.substr(0, module.find(':'));
        op.moduleType = module.find(':') == std::string::npos ? "" : module.substr(module.find(':') + 1);
    }
    const OpId index(model.ops.size());
    op.structureOnly = op.kind == NodeKind::Structure || op.id == "edge_index";
    for (words >> word; words >> word;) op.inputs.push_back(operand(model, word));
    for (const ValueId input : op.inputs) model.values[input].consumers.push_back(index);
    if (op.kind != NodeKind::Output)
        op.outputs = {addValue(model, "v." + op.id, op.kind == NodeKind::Input ? Origin::Input : Origin::Op, index,
                               op.structureOnly)};
    if (op.kind == NodeKind::Input) model.values.back().name = op.id;
    if (op.kind == NodeKind::Structure) model.prologue.push_back(index);
    model.opsById[op.id] = index;
    model.depth = std::max(model.depth, op.depth);
    model.ops.push_back(std::move(op));
}

bool isOutput(const ModelRecord& model, ValueId value)
{
    const auto& consumers = model.values[value].consumers;
    return std::any_of(consumers.begin(), consumers.end(),
                       [&](OpId op) { return model.ops[op].kind == NodeKind::Output; });
}

}  // namespace

ModelRecord model(const std::string& text)
{
    ModelRecord made;
    made.path = "drawn.pt";
    made.className = "Drawn";
    made.splittable = true;
    made.sizes["node"] = 34;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.find_first_not_of(' ') != std::string::npos) addLine(made, line);
    protocol::labelValues(made);
    return made;
}

protocol::PlanRecord plan(const ModelRecord& model, const std::vector<Stage>& stages)
{
    protocol::PlanRecord made;
    made.strategy = base::Strategy::Depth;
    made.device = "cpu";
    made.prologue = model.prologue;
    made.predicted.emplace();
    for (const Stage& drawn : stages) {
        protocol::PlanStage stage;
        stage.index = protocol::StageId::at(made.stages.size());
        for (const std::string& op : drawn.ops) stage.steps.push_back({model.findOp(op), "B(node)", "node"});
        for (const std::string& op : drawn.reads) stage.reads.push_back({model.findValue("v." + op), "F(node)"});
        protocol::PredictedStage predicted;
        predicted.index = stage.index;
        predicted.peakMemory = 1000 * stage.index.number;
        for (const std::string& op : drawn.writes) {
            const ValueId value = model.findValue("v." + op);
            stage.writes.push_back({value, "B(node)"});
            made.checkpoints.push_back({value, stage.index, isOutput(model, value), 100, std::nullopt});
        }
        predicted.written = 100 * static_cast<std::int64_t>(drawn.writes.size());
        predicted.read = 100 * static_cast<std::int64_t>(drawn.reads.size());
        made.predicted->d2h += predicted.written;
        made.predicted->h2d += predicted.read;
        made.predicted->peakMemory = predicted.peakMemory;
        made.predicted->stages.push_back(predicted);
        made.stages.push_back(std::move(stage));
    }
    made.indexStages();
    return made;
}

ModelRecord twoLayers()
{
    return model(R"(
        x           input      x                   -                 0
        edge_index  input      edge_index          -                 0
        src         structure  aten::select.int    convs.0:Conv      0  < edge_index
        dst         structure  aten::select.int    convs.0:Conv      0  < edge_index
        h0          rowwise    aten::linear        convs.0.lin:Linear 0 < x %convs.0.lin.weight
        m0          gather     aten::index_select  convs.0:Conv      1  < h0 src
        s0          aggregate  aten::index_add     convs.0:Conv      1  < m0 dst
        r0          rowwise    aten::relu          -                 1  < s0
        h1          rowwise    aten::linear        convs.1.lin:Linear 1 < r0 %convs.1.lin.weight
        m1          gather     aten::index_select  convs.1:Conv      2  < h1 src
        s1          aggregate  aten::index_add     convs.1:Conv      2  < m1 dst
        out         output     out                 -                 2  < s1)");
}

protocol::PlanRecord twoLayerPlan(const ModelRecord& model)
{
    return plan(model, {{{"h0", "m0", "s0", "r0"}, {"x"}, {"r0"}}, {{"h1", "m1", "s1"}, {"r0"}, {"s1"}}});
}

}  // namespace hopscope::drawn
