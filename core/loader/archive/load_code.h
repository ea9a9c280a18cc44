#pragma once

// Finds the code that LibTorch would execute while it reads a file, in the bytes of the archive and before LibTorch
// reads them.

#include <span>
#include <string>

#include "loader/archive/archive.h"

namespace hopscope::loader {

// Fails with Unsupported, naming record and line, if reading the file would run its code or create objects of C++
// classes: `__setstate__`, which torch::jit::load calls for each object of a class that has it, and classes of
// libraries (torch.classes). Every mention of that name counts, even in comments. Methods that LibTorch merely compiles
// are ignored. Linear in the size of code and pickles.
base::Status checkLoadRunsNothing(std::span<const std::byte> file, const Archive& archive, const std::string& name);

}  // namespace hopscope::loader
