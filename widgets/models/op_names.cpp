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

// "lin" of "lin output"; a module with a number for a name gets its type: "Linear mlp.7".
QString moduleCalled(const protocol::OpRecord& op, const QString& output)
{
    const QString module = output.chopped(outputOf({}).size());
    const bool typed = module.section(u'.', -1).front().isDigit() && text(op.module).endsWith(module);
    return typed && !op.moduleType.empty() ? text(op.moduleType) + u' ' + module : module;
}

}  // namespace

QString opName(const protocol::ModelRecord& model, protocol::OpId id)
{
    const protocol::OpRecord& op = model.ops[id];
    if (!op.computes() || op.outputs.empty()) return humanLabel(op);
    if (!isOutput(model, op.outputs.front())) return valueLabel(model, op.outputs.front());
    return op.module.empty() ? text(analysis::resultWord(op.kind, op.name)) : outputOf(text(op.module));
}

QString opNameIn(const protocol::ModelRecord& model, protocol::OpId op, const QString& module)
{
    QString name = opName(model, op).section(QStringLiteral(" after "), 0, 0);
    const bool inside = name.startsWith(module + u'.') || name.startsWith(module + u' ');
    if (!module.isEmpty() && inside) {
        const bool number = name.at(module.size() + 1).isDigit();  // "mlp.7" rather than "7"
        name.remove(0, number ? module.size() - module.section(u'.', -1).size() : module.size() + 1);
    }
    return model.ops[op].computes() && name.endsWith(outputOf({})) ? moduleCalled(model.ops[op], name) : name;
}

}  // namespace hopscope::models
