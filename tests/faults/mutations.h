#pragma once

// Seeded damage to files: what disks, transfers, editors and ill will do to them.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hopscope::faults {

using Bytes = std::vector<unsigned char>;
using Random = std::mt19937_64;

// Damages `file` in place with one to three mutations; `other` is a file to splice from. Returns what was done, in
// words: "flip 3 bits; truncate to 812".
std::string mutate(Bytes& file, const Bytes& other, Random& random);

// Damages the content of one stored entry of a zip archive and corrects its checksum, so that the damage reaches the
// reader behind the zip layer. Falls back to mutate() where there is no stored entry.
std::string mutateEntry(Bytes& archive, const Bytes& other, Random& random);

}  // namespace hopscope::faults
