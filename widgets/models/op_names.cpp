#include "models/op_names.h"

#include <QCoreApplication>
#include <algorithm>

#include "analysis/naming/value_namer.h"
#include "models/labels.h"

namespace hopscope::models {

namespace {

bool isOutput(const protocol::ModelRecord& model, protocol::ValueId value)
{
    return std::ranges::any_of(model.values[value].consumers,
                               [&](protocol::OpId op) { return model.ops[op].kind == protocol::NodeKind::Output; });
}

QString outputOf(const QString& module) { return QCoreApplication::translate("Labels", "%1 output").arg(module); }

}  // namespace

QString opName(const protocol::ModelRecord& model, protocol::OpId id)
{
    const protocol::OpRecord& op = model.ops[id];
    if (!op.computes() || op.outputs.empty()) return humanLabel(op);
    if (!isOutput(model, op.outputs.front())) return valueLabel(model, op.outputs.front());
    return op.module.empty() ? text(analysis::resultWord(op.kind, op.name)) : outputOf(text(op.module));
}

}  // namespace hopscope::models
