#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace hopscope::base {

namespace {

// The factor of a suffix, or 0 where it is none.
double factorOf(std::string_view suffix)
{
    if (suffix.size() > 1 && suffix.front() == ' ') suffix.remove_prefix(1);
    if (!suffix.empty() && (suffix.back() == 'B' || suffix.back() == 'b')) suffix.remove_suffix(1);
    if (suffix.empty()) return 1;
    const std::size_t power = std::string_view("kmgt").find(static_cast<char>(suffix.front() | 0x20));
    if (power == std::string_view::npos) return 0;
    suffix.remove_prefix(1);
    if (!suffix.empty() && suffix != "i") return 0;
    return std::pow(suffix.empty() ? 1000.0 : 1024.0, static_cast<double>(power + 1));
}

tl::unexpected<Error> badSize(std::string_view text)
{
    return fail(ErrorCode::Usage, "'" + std::string(text) + "' is not a valid size",
                "write a number with an optional K, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024)");
}

std::string print(const char* format, double value, const char* unit)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, value, unit);
    return text.data();
}

// One decimal below 100, none above: three or four significant characters.
std::string scaled(double value, const char* unit)
{
    return print(std::abs(value) < 99.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

// Divides by `base` while the rounded number would still fill the next unit.
std::string withUnit(double value, double base, double start, const std::array<const char*, 5>& units)
{
    std::size_t unit = 0;
    value /= start;
    while (std::abs(value) >= base - 0.5 && unit + 1 < units.size()) {
        value /= base;
        ++unit;
    }
    return scaled(value, units[unit]);
}

}  // namespace

Result<std::int64_t> parseSize(std::string_view text)
{
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    const double factor = error == std::errc{} ? factorOf({stop, static_cast<std::size_t>(end - stop)}) : 0;
    if (factor == 0 || !std::isfinite(number) || std::signbit(number)) return badSize(text);
    // Whole numbers without a suffix stay exact beyond 2^53.
    std::int64_t exact = 0;
    const auto whole = std::from_chars(text.data(), end, exact);
    if (whole.ec == std::errc{} && whole.ptr == end) return exact;
    if (number * factor >= 9223372036854775807.0) return badSize(text);
    return std::llround(number * factor);
}

std::string formatShare(double share)
{
    const long percent = std::lround(share * 100);
    return percent == 0 && share > 0 ? "<1 %" : std::to_string(percent) + " %";
}

std::string formatQuantity(double number, Quantity quantity)
{
    switch (quantity) {
    case Quantity::Seconds: return formatSeconds(number);
    case Quantity::Bytes: return formatBytes(number);
    case Quantity::Count: return formatCount(number);
    case Quantity::Ratio: return formatShare(number);
    case Quantity::None: break;
    }
    return formatNumber(number);
}

std::string exactSize(std::int64_t bytes)
{
    constexpr std::array units{std::pair{40, "Ti"}, std::pair{30, "Gi"}, std::pair{20, "Mi"}, std::pair{10, "Ki"}};
    for (const auto& [shift, name] : units)
        if (bytes > 0 && (bytes & ((std::int64_t{1} << shift) - 1)) == 0) return std::to_string(bytes >> shift) + name;
    return std::to_string(bytes);
}

std::string formatBytes(double bytes)
{
    if (!std::isfinite(bytes)) return "unknown";
    if (std::abs(bytes) < 1023.5) return print("%.0f %s", bytes, "B");
    return withUnit(bytes, 1024, 1024, {"KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string formatCount(double count)
{
    if (!std::isfinite(count)) return "unknown";
    if (std::abs(count) < 999999.5) return grouped(std::llround(count));
    return withUnit(count, 1000, 1e6, {"M", "G", "T", "P", "E"});
}

std::string grouped(std::int64_t number)
{
    std::string digits = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
    return digits;
}

std::string counted(std::int64_t number, std::string_view noun)
{
    return grouped(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::string formatSeconds(double seconds)
{
    if (!std::isfinite(seconds)) return "unknown";
    if (std::abs(seconds) < 0.9995e-3) return print("%.0f %s", seconds * 1e6, "\u00b5s");
    if (std::abs(seconds) < 0.9995) return print("%.0f %s", seconds * 1e3, "ms");
    if (std::abs(seconds) < 9.995) return print("%.2f %s", seconds, "s");
    if (std::abs(seconds) < 59.95) return print("%.1f %s", seconds, "s");
    const long long whole = std::llround(seconds);
    std::array<char, 64> text{};
    const bool hours = whole >= 3600;
    std::snprintf(text.data(), text.size(), hours ? "%lld h %02lld min" : "%lld min %02lld s",
                  hours ? whole / 3600 : whole / 60, hours ? whole % 3600 / 60 : whole % 60);
    return text.data();
}

std::string formatNumber(double number, int digits)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*g", digits, number);
    return text.data();
}

}  // namespace hopscope::base
