#pragma once

// Models for the graph's tests and measurements: written by hand, generated, or read from `inspect --json`.

#include <QString>
#include <QStringList>

#include "models/document.h"

namespace hopscope::graphview::samples {

// Writes models line by line: op("aten::relu", "convs.0", {"h"}, "h1").
class ModelWriter {
public:
    ModelWriter();
    int input(const std::string& name, bool structure = false);
    // Returns the number of the new operator's value.
    int op(protocol::NodeKind kind, const std::string& name, const std::string& module, const std::string& type,
           const std::vector<int>& inputs, int width = 32);
    int parameter(const std::string& name);
    void output(int value);
    models::ModelPtr finish();

private:
    int addValue(protocol::Origin origin, int width, bool structure);
    protocol::ModelRecord m_model;
    std::vector<int> m_depth;  // by value
};

// Layers of linear, gather, sum and relu; with `skips`, every eighth layer adds the one before it.
models::ModelPtr layeredModel(int layers, bool skips);
// About `ops` operators in at least ops / 20 modules: blocks of layers with a shared edge index, skips and a repeated block.
models::ModelPtr largeModel(int ops);

// Stage s computes what has depth s; stores what a later stage needs.
models::PlanPtr depthPlan(const models::ModelPtr& model);

// Null where the file cannot be read.
models::ModelPtr readModelFile(const QString& file);
models::PlanPtr readPlanFile(const QString& file, const models::ModelPtr& model);

}  // namespace hopscope::graphview::samples
