#pragma once

// Labels for the engine's names, shared by graph, tables and panels. The functions are pure, and none of them fails.

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>

#include "base/choices.h"
#include "plan/figures.h"
#include "protocol/model.h"

namespace hopscope::models {

// Returns a short description of an operator: "sum aggregation", "gather source", "linear", "concat"
// (analysis/naming/op_words.h). Inputs and outputs keep their names.
QString humanLabel(const protocol::OpRecord& op);
// Returns the same, but "gather destination" for a gather along the other end of the edges, which does not reach
// further neighbours.
QString opLabel(const protocol::ModelRecord& model, const protocol::OpRecord& op);
// Returns "convs.1 · GCNConv · aten::index_add"; missing parts are left out.
QString pathLabel(const protocol::OpRecord& op);
// Returns the literal arguments by the names of the schema: "dim=0, keepdim=False"; arguments that are None are left
// out.
QString argumentsLabel(const protocol::OpRecord& op);
// Names a value as the engine does, except for the gathers that opLabel() distinguishes: "convs.0 output", "relu after
// convs.0", "x", "lin.weight".
QString valueLabel(const protocol::ModelRecord& model, protocol::ValueId value);
// Returns "2,708 × 64 float32"; names of tables become their sizes if the data is known.
QString shapeLabel(const protocol::ModelRecord& model, const protocol::ValueRecord& value);
// Returns "one per row of node" or "one per row of part of edge_index", or states that there are none.
QString rowsLabel(const protocol::ValueRecord& value);
// Returns "input", "structure only", "row-wise", "gather", "aggregation", "reduction over rows", "output".
QString kindLabel(protocol::NodeKind kind);

// Returns "depth rule", "source rule", "optimum".
QString strategyLabel(base::Strategy strategy);

QString text(const std::string& utf8);  // std::string -> QString
// Returns false if the depths of operators are unknown because the analysis stopped before computing them.
bool depthKnown(const protocol::ModelRecord& model);

QString capitalised(const QString& words);  // changes the first letter
// Turns an engine message into a sentence: adds a full stop if it has none, and capitalises a first word of lower-case
// letters, unless `capital` is false. Names such as "aten::sort" stay as they are.
QString sentence(const std::string& utf8, bool capital = true);
QString formatBytes(double bytes);            // "1.2 GiB"
QString formatCount(double count);            // "2,708"
QString formatSeconds(double seconds);        // "45 ms"
QString formatSecondsFinely(double seconds);  // "1.2 ms", "45 ms"; use it if small differences matter
// Returns the known figures of a stage that have a label: "core time: 1.20 s".
QStringList figureLines(const plan::StageFigures& figures);
// Returns "–" if the number is unknown.
QString formatBytes(const std::optional<std::int64_t>& bytes);
// Returns the memory limit in bytes that a refusal's hint ends with: "raise it to --memory 4096"; none: no limit.
std::optional<qint64> memoryHint(const QString& hint);
// Returns such a hint in the words of the window: "raise it to 4.0 KiB". Leaves other sentences unchanged.
QString withoutOptions(const QString& sentence);

}  // namespace hopscope::models
