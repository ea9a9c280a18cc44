#pragma once

// Makes bytes from outside fit for a terminal or a document.

#include <cstddef>
#include <string>
#include <string_view>

namespace hopscope::base {

// The length of the UTF-8 sequence at `at`, 1 to 4, or 0 where it is not well formed.
std::size_t utf8Length(std::string_view text, std::size_t at);

// The text without line breaks and control characters, with invalid UTF-8 as U+FFFD, cut off after `limit` bytes.
std::string oneLine(std::string_view text, std::size_t limit = 2000);

// Characters that `text` shows on a terminal: UTF-8 sequences count once, colour codes not at all.
std::size_t shownWidth(std::string_view text);

// The least number of letters to insert, delete, replace or swap with a neighbour to turn `b` into `a`; O(|a| |b|).
std::size_t edits(std::string_view a, std::string_view b);

}  // namespace hopscope::base
