#pragma once

// Describes the events in a frame of the animation. The functions are pure.

#include <QString>
#include <QStringList>

#include "study/animation/animation_frames.h"

namespace hopscope::study {

// The contents of an animation, as references to its parts.
struct Film {
    const Animation& animation;
    const protocol::ModelRecord& model;
    const protocol::PlanRecord& plan;
    const schema::GraphPart& part;
};

QString frameTitle(const Film& film, int frame);    // "Stage 1 of 2, batch 2 of 3: rows are read"
QString frameCaption(const Film& film, int frame);  // one to three sentences

// States the drawn share of the graph, and that its batches differ from those of a run; empty if everything is as in a
// run.
QString partSentence(const Film& film);

QString storeName(const Film& film, std::size_t store);                       // "relu after convs.0"
QString storeState(const Film& film, std::size_t store, const Frame& frame);  // "12 of 34 rows are exact"

}  // namespace hopscope::study
