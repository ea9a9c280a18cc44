#pragma once

// Computes SHA-256 (FIPS 180-4), for hashes on which other tools have to agree.

#include <cstddef>
#include <span>
#include <string>

namespace hopscope::base {

// Returns the hash in hexadecimal, as sha256sum prints it. Linear in the bytes.
std::string sha256(std::span<const std::byte> bytes);

}  // namespace hopscope::base
