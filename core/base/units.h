#pragma once

// Parses sizes, and formats sizes, counts, durations, shares and other numbers. K, M, G and T are powers of 1000; Ki, Mi,
// Gi and Ti are powers of 1024.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/result.h"

namespace hopscope::base {

// Parses a size in bytes: "1Gi" -> 1073741824, "500M" -> 500000000, "1.5 GiB", "123". Fails with Usage on anything
// else, on negative numbers and on overflow.
Result<std::int64_t> parseSize(std::string_view text);

std::string formatBytes(double bytes);                            // "1.2 GiB", "734 B"
std::string formatCount(double count);                            // "1.6 M", "2,708"
std::string grouped(std::int64_t number);                         // "1,600,000": all digits
std::string counted(std::int64_t number, std::string_view noun);  // "1 row", "1,600,000 rows"
std::string formatSeconds(double seconds);                        // "1.23 s", "45 ms", "2 min 05 s"
std::string formatShare(double share);                            // "93 %", "<1 %"
std::string formatQuantity(double number, Quantity quantity);
// Formats a size exactly, in the largest power of 1024 that allows it: "8Gi", "1500". parseSize() reads the result.
std::string exactSize(std::int64_t bytes);
// Formats a number with at most `digits` significant digits: "0.25", "1e-07", "nan".
std::string formatNumber(double number, int digits = 6);

}  // namespace hopscope::base
