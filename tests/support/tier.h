#pragma once

#include <cstdlib>
#include <string_view>

namespace hopscope::test {

// As one_in() of tests/app/tiers.py: one case in `usual` is tested, and every case in the full tier (HOPSCOPE_TIER).
inline int oneIn(int usual)
{
    const char* const tier = std::getenv("HOPSCOPE_TIER");
    return tier && tier == std::string_view("full") ? 1 : usual;
}

}  // namespace hopscope::test
