#pragma once

// SHA-256 (FIPS 180-4), for names of files that other tools have to agree on.

#include <cstddef>
#include <span>
#include <string>

namespace hopscope::base {

// The hash in hexadecimal, as sha256sum prints it. Linear.
std::string sha256(std::span<const std::byte> bytes);

}  // namespace hopscope::base
