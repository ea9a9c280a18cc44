#pragma once

// Words for what the engine names: pure functions, shared by graph, tables and panels. Nothing here fails.

#include <QString>
#include <cstdint>
#include <optional>

#include "protocol/model.h"

namespace hopscope::models {

// What an operator does, in a few words: "sum by destination", "gather source", "linear", "concat". Inputs and outputs keep
// their names; an operator that is not in the vocabulary keeps its own without "aten::", overload and underscores.
QString humanLabel(const protocol::OpRecord& op);
// "convs.1 · GCNConv · aten::index_add"; parts that are missing are left out.
QString pathLabel(const protocol::OpRecord& op);
// A value by what makes it: "convs.0 multiply", "relu after convs.0", "x", "lin.weight"; the id where nothing names it.
QString valueLabel(const protocol::ModelRecord& model, int value);
// "2,708 × 64 float32"; table names become their sizes where the data is known.
QString shapeLabel(const protocol::ModelRecord& model, const protocol::ValueRecord& value);
// "node rows", "edge_index rows", or "no rows".
QString rowsLabel(const protocol::ValueRecord& value);
// "input", "structure only", "row by row", "gather", "aggregation", "reduction over rows", "output".
QString kindLabel(const std::string& kind);

QString text(const std::string& utf8);        // std::string -> QString
QString formatBytes(double bytes);            // "1.2 GiB"
QString formatCount(double count);            // "2,708"
QString formatSeconds(double seconds);        // "45 ms"
QString formatSecondsFinely(double seconds);  // "1.2 ms", "45 ms": where small differences matter
// "–" where it is not known.
QString formatBytes(const std::optional<std::int64_t>& bytes);

}  // namespace hopscope::models
