#pragma once

// Random segment problems and a judge that follows the definition in segment.h with one number at a time. It knows
// nothing of vectors, nor of the conversions of half.h.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/divided_rows.h"
#include "kernels/segment.h"

namespace segment_case {

using hopscope::kernels::Combine;
using hopscope::kernels::Element;
using hopscope::kernels::HubPiece;
using hopscope::kernels::SegmentArguments;

// From the bits of an element to its value and back, to nearest with ties to even. Float32 too.
float decode(Element element, std::uint32_t bits);
std::uint32_t encode(Element element, double value);

// Elements as they lie in memory, `shift` unused ones before them: rows that are not aligned.
class Elements {
public:
    Elements() = default;
    Elements(Element element, std::int64_t count, std::int64_t shift);

    [[nodiscard]] std::uint32_t bits(std::int64_t i) const;
    void set(std::int64_t i, std::uint32_t bits);
    [[nodiscard]] float value(std::int64_t i) const { return decode(m_element, bits(i)); }
    [[nodiscard]] std::int64_t count() const { return m_count; }
    [[nodiscard]] std::size_t start() const { return static_cast<std::size_t>(m_shift) * size(); }  // bytes
    [[nodiscard]] std::byte* data() { return m_bytes.data() + start(); }
    std::vector<std::byte>& bytes() { return m_bytes; }

private:
    [[nodiscard]] std::size_t size() const { return m_element == Element::Float32 ? 4 : 2; }

    Element m_element = Element::Float32;
    std::int64_t m_count = 0, m_shift = 0;
    std::vector<std::byte> m_bytes;
};

struct Case {
    std::uint64_t seed = 0;
    std::vector<std::int64_t> offsets, columns;
    std::vector<std::int32_t> narrowOffsets, narrowColumns;
    Elements weight, source, out;
    std::vector<HubPiece> pieces;
    std::vector<float> partial;
    std::unique_ptr<DividedRows> divided;
    bool picked = false, weighted = false;
    bool plain = false;          // no NaN, no infinity, nothing huge
    SegmentArguments arguments;  // pointers into the vectors above, but none to pieces and partial

    explicit Case(std::uint64_t number);
    Case(const Case&) = delete;
    void usePieces();
    // GPU: leaves some of the rows that columns refer to on the host. Does nothing without columns.
    void divideRows();
};

// The first so many seeds give every combination of element, combination, widths of numbers, columns and weights.
constexpr std::uint64_t combinations = 3 * 4 * 2 * 3 * 2;

std::string describe(const Case& c);

// The bits of every element of the result. Call it before `out` is written.
std::vector<std::uint32_t> expected(const Case& c);

// Without rounding and without hubs, for `out` taken as magnitudes or as they are.
std::vector<double> exact(const Case& c, bool magnitudes);

// A sentence about the first element that differs; NaN may differ in its payload.
std::optional<std::string> difference(const std::vector<std::uint32_t>& want, const Case& c);

}  // namespace segment_case
