#pragma once

// Private to the fake device: the strip kernel of GPUs against that of CPUs, on whatever is launched.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/strip.h"

namespace hopscope::fake_device {

// The results of stripCpu(), to be compared with those of the device.
class StripBits {
public:
    // Computes them. The device writes its results afterwards. Rows in two places are not compared: stripCpu() reads one.
    StripBits(const kernels::StripProgram& program, const kernels::StripArguments& arguments);
    // Empty if the device's results have the same bits, except for the payload of NaN and the sign of zero; a sentence
    // that names the first other element if not.
    [[nodiscard]] std::string difference() const;

private:
    [[nodiscard]] std::string differenceIn(std::size_t buffer) const;

    const kernels::StripProgram& m_program;
    const kernels::StripArguments& m_arguments;
    std::vector<std::vector<std::byte>> m_expected;  // by buffer of destinations
};

// The bytes of an element.
std::int64_t itemBytes(kernels::StripElement element);

}  // namespace hopscope::fake_device
