#include "widgets_models/drawn_model.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace hopscope::drawn {

namespace {

using protocol::ModelRecord;

int addValue(ModelRecord& model, const std::string& id, const std::string& origin, int producer, bool structure)
{
    protocol::ValueRecord value;
    value.id = id;
    value.origin = origin;
    value.dtype = structure ? "int64" : "float32";
    value.structureOnly = structure;
    value.producer = producer;
    value.bytes = 100;
    value.shape = origin == "parameter" ? std::vector<std::string>{"8", "8"} : std::vector<std::string>{"|node|", "8"};
    value.spaces.resize(2);
    if (origin != "parameter") value.spaces[0] = "node";
    if (origin != "op") value.name = id;
    model.valuesById[id] = static_cast<int>(model.values.size());
    model.values.push_back(std::move(value));
    return static_cast<int>(model.values.size()) - 1;
}

int operand(ModelRecord& model, const std::string& word)
{
    const std::string id = word.front() == '%' ? word.substr(1) : "v." + word;
    if (const int known = model.valueIndex(id); known >= 0) return known;
    if (word.front() != '%') throw std::invalid_argument("nothing makes " + word);
    return addValue(model, id, "parameter", -1, false);
}

void addLine(ModelRecord& model, const std::string& line)
{
    std::istringstream words(line);
    protocol::OpRecord op;
    std::string module, word;
    words >> op.id >> op.kind >> op.name >> module >> op.depth;
    op.depthModule = op.depthOp = op.depth;
    if (module != "-") {
        op.module = module.substr(0, module.find(':'));
        op.moduleType = module.find(':') == std::string::npos ? "" : module.substr(module.find(':') + 1);
    }
    const int index = static_cast<int>(model.ops.size());
    op.structureOnly = op.kind == "structure" || op.id == "edge_index";
    for (words >> word; words >> word;) op.inputs.push_back(operand(model, word));
    for (const int input : op.inputs) model.values[static_cast<std::size_t>(input)].consumers.push_back(index);
    if (op.kind != "output")
        op.outputs = {addValue(model, "v." + op.id, op.kind == "input" ? "input" : "op", index, op.structureOnly)};
    if (op.kind == "input") model.values.back().name = op.id;
    if (op.kind == "structure") model.prologue.push_back(index);
    model.opsById[op.id] = index;
    model.depth = std::max(model.depth, op.depth);
    model.ops.push_back(std::move(op));
}

bool isOutput(const ModelRecord& model, int value)
{
    const auto& consumers = model.values[static_cast<std::size_t>(value)].consumers;
    return std::any_of(consumers.begin(), consumers.end(),
                       [&](int op) { return model.ops[static_cast<std::size_t>(op)].kind == "output"; });
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
    made.strategy = "depth";
    made.device = "cpu";
    made.prologue = model.prologue;
    made.predicted.emplace();
    for (const Stage& drawn : stages) {
        protocol::PlanStage stage;
        stage.index = static_cast<int>(made.stages.size()) + 1;
        for (const std::string& op : drawn.ops) stage.steps.push_back({model.opIndex(op), "B(node)", "node"});
        for (const std::string& op : drawn.reads) stage.reads.push_back({model.valueIndex("v." + op), "F(node)"});
        protocol::PredictedStage predicted;
        predicted.index = stage.index;
        predicted.peakMemory = 1000 * stage.index;
        for (const std::string& op : drawn.writes) {
            const int value = model.valueIndex("v." + op);
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
