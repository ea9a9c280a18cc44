#pragma once

// Private to the fake device: memory mapped twice, for tensors without any rights and for the fake device's own use.

#include <cstddef>

namespace hopscope::fake_device {

struct Mapping {
    char* device = nullptr;  // PROT_NONE
    char* host = nullptr;    // the same bytes
    std::size_t bytes = 0;
};

// Mappings that were given back are used again: making one takes longer than most models' kernels.
Mapping takeMapping(std::size_t bytes);
void giveMapping(const Mapping& mapping);

}  // namespace hopscope::fake_device
