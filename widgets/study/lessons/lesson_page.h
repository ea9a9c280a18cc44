#pragma once

// Creates printable lessons for teachers: the text of each step, its task or question, and the answers.

#include "study/lessons/lesson.h"

namespace hopscope::study {

QString lessonPage(const std::vector<Lesson>& lessons);  // as HTML
// Writes the page as PDF if the suffix is pdf, otherwise as HTML. Returns an empty string, or the reason for a failure.
QString saveLessonPage(const std::vector<Lesson>& lessons, const QString& file);

}  // namespace hopscope::study
