#include "fake_device/strip_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/half.h"

namespace hopscope::fake_device {

namespace {

double valueAt(kernels::StripElement element, const std::byte* at)
{
    using kernels::StripElement;
    const auto read = [at](auto value) {
        std::memcpy(&value, at, sizeof(value));
        return value;
    };
    switch (element) {
    case StripElement::Float64: return read(double{});
    case StripElement::Float32: return read(float{});
    case StripElement::Float16: return base::widen(read(base::Float16{}));
    case StripElement::BFloat16: return base::widen(read(base::BFloat16{}));
    }
    return NAN;
}

bool isDivided(const kernels::StripTable& table) { return table.host.places != nullptr; }

}  // namespace

std::int64_t itemBytes(kernels::StripElement element)
{
    if (element == kernels::StripElement::Float64) return 8;
    return element == kernels::StripElement::Float32 ? 4 : 2;
}

StripBits::StripBits(const kernels::StripProgram& program, const kernels::StripArguments& arguments)
    : m_program(program),
      m_arguments(arguments),
      m_expected(arguments.out.size())
{
    if (std::ranges::any_of(arguments.tables, isDivided)) return;
    kernels::StripArguments here = arguments;
    for (std::size_t b = 0; b < here.out.size(); ++b) {
        if (!here.out[b]) continue;
        m_expected[b].resize(
            static_cast<std::size_t>(arguments.destinations * program.destinations[b] * itemBytes(program.element)));
        here.out[b] = m_expected[b].data();
    }
    std::vector<std::byte> scratch(static_cast<std::size_t>(kernels::stripScratchBytes(program)) + 64);
    void* at = scratch.data();
    std::size_t space = scratch.size();
    kernels::stripCpu(program, here, 0, here.destinations, static_cast<std::byte*>(std::align(64, 1, at, space)));
}

std::string StripBits::difference() const
{
    for (std::size_t b = 0; b < m_expected.size(); ++b)
        if (const std::string found = differenceIn(b); !found.empty()) return found;
    return {};
}

std::string StripBits::differenceIn(std::size_t buffer) const
{
    const std::vector<std::byte>& expected = m_expected[buffer];
    const auto* const got = static_cast<const std::byte*>(m_arguments.out[buffer]);
    if (expected.empty() || std::memcmp(got, expected.data(), expected.size()) == 0) return {};
    const auto size = static_cast<std::size_t>(itemBytes(m_program.element));
    for (std::size_t at = 0; at < expected.size(); at += size) {
        if (std::memcmp(got + at, expected.data() + at, size) == 0) continue;
        const double here = valueAt(m_program.element, expected.data() + at),
                     there = valueAt(m_program.element, got + at);
        if ((std::isnan(here) && std::isnan(there)) || (here == 0 && there == 0)) continue;
        return "a strip kernel of the device gives " + std::to_string(there) + " where that of the CPU gives " +
               std::to_string(here) + ": element " + std::to_string(at / size) + " of buffer " + std::to_string(buffer);
    }
    return {};
}

}  // namespace hopscope::fake_device
