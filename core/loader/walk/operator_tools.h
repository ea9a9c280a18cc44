#pragma once

// The tools that the operators on numbers and on sequences share. The members must outlive this object.

#include "loader/walk/numbers.h"
#include "loader/walk/value_wrapper.h"

namespace hopscope::loader {

struct OperatorTools {
    const Recorder& recorder;
    const Location& location;
    OperatorCalls& calls;
    ValueWrapper& wrapper;
    Numbers& numbers;
};

}  // namespace hopscope::loader
