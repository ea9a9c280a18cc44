#pragma once

// Printable lessons for teachers: the text of each step, its task or question, and the answers.

#include "study/lesson.h"

namespace hopscope::study {

QString lessonPage(const std::vector<Lesson>& lessons);  // as HTML
// Writes it by the suffix of the file: pdf, or HTML. Returns an empty string, or the reason of a failure.
QString saveLessonPage(const std::vector<Lesson>& lessons, const QString& file);

}  // namespace hopscope::study
