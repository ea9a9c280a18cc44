#pragma once

// Writes the animation into files.

#include <QString>

#include "study/animation/animation_picture.h"

namespace hopscope::study {

inline constexpr std::size_t mostFramesInFiles = 600;

// Writes the format that the suffix decides: one animated .png, or one .svg per frame, numbered ("club-001.svg" for
// "club.svg"). Each frame is shown for `milliseconds`. Returns an empty string, or the reason for a failure.
QString saveAnimation(const FilmPicture& picture, const QString& file, int milliseconds);

}  // namespace hopscope::study
