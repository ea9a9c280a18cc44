#pragma once

// The models that come with Hopscope.

#include <QString>
#include <QVector>

namespace hopscope::window {

struct Sample {
    QString title, text;  // what it is, in a few words
    QString model, data;  // files
};

// Where they are: beside an installed program, or in the source tree it was built from. Empty: nowhere.
QString samplesFolder(const QString& programFolder);
QVector<Sample> samplesIn(const QString& folder);  // those that are there

// What probably is a model's data: the only .safetensors beside it that is no record of expected outputs, or graph.safetensors.
QString dataBeside(const QString& model);

}  // namespace hopscope::window
