#pragma once

// Prepares text from outside for terminals and documents, and compares words.

#include <cstddef>
#include <string>
#include <string_view>

namespace hopscope::base {

// Returns the length of the UTF-8 sequence at byte `at`, 1 to 4, or 0 if it is not well formed.
std::size_t utf8Length(std::string_view text, std::size_t at);

// Returns the text with at most one blank in place of each run of ASCII control characters, such as line breaks, and
// U+FFFD in place of invalid UTF-8. Removes blanks at the end. A result of more than `limit` bytes is truncated, and
// ends with an ellipsis.
std::string oneLine(std::string_view text, std::size_t limit = 2000);

// Returns the number of characters that a terminal shows for `text`: each UTF-8 sequence counts once, and colour codes
// do not count.
std::size_t shownWidth(std::string_view text);

// Returns the edit distance (optimal string alignment): the number of bytes to insert, delete, replace or swap with a
// neighbour in order to turn `b` into `a`. O(|a| |b|).
std::size_t edits(std::string_view a, std::string_view b);

}  // namespace hopscope::base
