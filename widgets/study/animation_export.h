#pragma once

// Writes the animation into files.

#include <QString>

#include "study/animation_picture.h"

namespace hopscope::study {

inline constexpr std::size_t mostFramesInFiles = 600;

// The suffix decides: one animated .png, or an .svg for each frame, numbered ("club-001.svg" for "club.svg"). Returns an empty
// string, or the reason of a failure. `milliseconds`: how long a frame is shown.
QString saveAnimation(const FilmPicture& picture, const QString& file, int milliseconds);

}  // namespace hopscope::study
