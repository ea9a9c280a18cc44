#pragma once

// What a receptive field means, in sentences. Pure functions.

#include <QStringList>

#include "schema/receptive_field.h"

namespace hopscope::study {

// What the result of the node follows from.
QString fieldSentence(const schema::ReceptiveField& field);
// What the same node costs in a layer-wise run.
QString blockSentence(const schema::ReceptiveField& field);
// The average over all nodes, exact or sampled, and what it means in repeated work and in bytes. Empty without averages.
QStringList explosionSentences(const schema::ReceptiveField& field);
// The figures that those sentences are made of.
std::int64_t inputRows(const schema::ReceptiveField& field);
std::int64_t blockEdges(const schema::ReceptiveField& field);
double meanInputRows(const schema::ReceptiveField& field);  // 0 without averages
// The rows and edges of one level by their numbers in the data, as text to read and copy.
QString levelText(const schema::ReceptiveField& field, int level);

}  // namespace hopscope::study
