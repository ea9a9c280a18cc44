#pragma once

// Finds the models that come with Hopscope.

#include <QString>
#include <QVector>

namespace hopscope::window {

struct Sample {
    QString title, text;  // a short description
    QString model, data;  // files
};

// Returns the folder of the samples: next to an installed program, or in the source tree of the build. Empty if not
// found.
QString samplesFolder(const QString& programFolder);
QVector<Sample> samplesIn(const QString& folder);  // those that exist

// Guesses a model's data: graph.safetensors, or the only .safetensors in its folder except records of expected outputs.
QString dataBeside(const QString& model);

}  // namespace hopscope::window
