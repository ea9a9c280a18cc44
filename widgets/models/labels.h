#pragma once

// Labels for the engine's names: pure functions, shared by graph, tables and panels. None of them fails.

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>

#include "base/choices.h"
#include "plan/figures.h"
#include "protocol/model.h"

namespace hopscope::models {

// A short description of an operator: "sum aggregation", "gather source", "linear", "concat" (analysis/op_words.h).
// Inputs and outputs keep their names.
QString humanLabel(const protocol::OpRecord& op);
// The same within its model, which distinguishes gathers along the other end of the edges: they do not reach further neighbours.
QString opLabel(const protocol::ModelRecord& model, const protocol::OpRecord& op);
// "convs.1 · GCNConv · aten::index_add"; missing parts are left out.
QString pathLabel(const protocol::OpRecord& op);
// Its literal arguments by the names of its schema: "dim=0, keepdim=False"; arguments that are None are left out.
QString argumentsLabel(const protocol::OpRecord& op);
// A value by its operator, as the engine names it: "convs.0 output", "relu after convs.0", "x", "lin.weight".
QString valueLabel(const protocol::ModelRecord& model, protocol::ValueId value);
// "2,708 × 64 float32"; table names become their sizes where the data is known.
QString shapeLabel(const protocol::ModelRecord& model, const protocol::ValueRecord& value);
// "one per row of node", "one per row of part of edge_index", or that there are none.
QString rowsLabel(const protocol::ValueRecord& value);
// "input", "structure only", "row-wise", "gather", "aggregation", "reduction over rows", "output".
QString kindLabel(protocol::NodeKind kind);

// "depth rule", "source rule", "optimum".
QString strategyLabel(base::Strategy strategy);

QString text(const std::string& utf8);  // std::string -> QString
// Whether the depths of operators are known: they are not if the analysis stopped before computing them.
bool depthKnown(const protocol::ModelRecord& model);

QString capitalised(const QString& words);  // the first letter
// An engine message as a sentence: with a full stop, and a capital letter unless it begins with a name such as
// "aten::sort" or if `capital` is false.
QString sentence(const std::string& utf8, bool capital = true);
QString formatBytes(double bytes);            // "1.2 GiB"
QString formatCount(double count);            // "2,708"
QString formatSeconds(double seconds);        // "45 ms"
QString formatSecondsFinely(double seconds);  // "1.2 ms", "45 ms": where small differences matter
// "core time: 1.2 s": the figures of a stage that have a label.
QStringList figureLines(const plan::StageFigures& figures);
// "–" if unknown.
QString formatBytes(const std::optional<std::int64_t>& bytes);
// The limit of memory that a refusal's hint asks for: "raise it to --memory 4096".
std::optional<qint64> memoryHint(const QString& hint);
// The same in the words of the window: "raise it to 4.0 KiB". Other sentences stay as they are.
QString withoutOptions(const QString& sentence);

}  // namespace hopscope::models
