#pragma once

// Paints a frame of the animation: the graph, and below it the inputs and stores with their rows. The picture is the
// same in the window and in files.

#include <QPainter>
#include <QPointF>

#include "study/animation/animation_text.h"
#include "style/theme.h"

namespace hopscope::study {

struct FilmPicture {
    const Film& film;
    const std::vector<QPointF>& places;  // of the nodes, as returned by placeNodes()
    const style::Theme& theme;
    QFont font;
    bool words = false;  // title and caption above the graph; for files, which show them nowhere else
};

// Paints a frame. `progress` (0 to 1) is how far the gathered or written rows have moved along their paths.
void paintFrame(QPainter& painter, const QRectF& room, const FilmPicture& picture, int frame, qreal progress);

// Returns the position of a node of the graph, for tests and tool tips.
QPointF nodePlace(const QRectF& room, const FilmPicture& picture, int frame, std::size_t node);

}  // namespace hopscope::study
