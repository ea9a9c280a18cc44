#pragma once

// Explains a receptive field in sentences. The functions are pure.

#include <QStringList>

#include "schema/receptive_field.h"

namespace hopscope::study {

// Describes the inputs that the result of the node depends on.
QString fieldSentence(const schema::ReceptiveField& field);
// Describes the cost of the same node in a layer-wise run; empty if it is unknown.
QString blockSentence(const schema::ReceptiveField& field);
// Describes the average over all nodes, exact or sampled, and the bytes and the repeated work of node-wise inference.
// Empty without averages.
QStringList explosionSentences(const schema::ReceptiveField& field);
// These functions return the numbers in the sentences above.
std::int64_t inputRows(const schema::ReceptiveField& field);
std::int64_t blockEdges(const schema::ReceptiveField& field);
double meanInputRows(const schema::ReceptiveField& field);  // 0 without averages
// Returns the rows and edges of one level by their numbers in the data, or their counts if they are too many to list.
QString levelText(const schema::ReceptiveField& field, int level);

}  // namespace hopscope::study
