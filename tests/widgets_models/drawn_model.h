#pragma once

// Small models and plans written as text, so that a test shows what it is about.
//
//     x    input     x                   -             0
//     h    rowwise   aten::linear        convs.0:Conv  0  < x %convs.0.weight
//     m    gather    aten::index_select  convs.0:Conv  1  < h edge_index
//
// One operator per line: id, kind, name, module:type ("-": none), depth, "< operands". "%name" is a parameter. An operator
// makes one value, "v.ID", of |node| x 8 floats; operators of kind "structure" and the input "edge_index" make structure.

#include <string>
#include <vector>

#include "protocol/model.h"
#include "protocol/plan.h"

namespace hopscope::drawn {

protocol::ModelRecord model(const std::string& text);

struct Stage {
    std::vector<std::string> ops, reads, writes;  // ids of operators, also for their values
};
// Stages from 1. What is written becomes a checkpoint of the stage, 100 bytes written; the value of an operand of the last
// line (the output) is an output. Predicted: 100 bytes per write, 100 per read, peak memory 1000 times the stage's number.
protocol::PlanRecord plan(const protocol::ModelRecord& model, const std::vector<Stage>& stages);

// Two convolutions: relu(h1) is what the second one gathers.
protocol::ModelRecord twoLayers();
protocol::PlanRecord twoLayerPlan(const protocol::ModelRecord& model);

}  // namespace hopscope::drawn
