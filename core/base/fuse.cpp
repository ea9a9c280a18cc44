#include "base/fuse.h"

#include <algorithm>
#include <sstream>

namespace hopscope::base {

std::vector<Fuse> allFuse()
{
    std::vector<Fuse> all;
    for (const Named<Fuse>& each : namesOf(Fuse{})) all.push_back(each.value);
    return all;
}

Result<std::vector<Fuse>> parseFuse(const std::string& text)
{
    if (text == "all") return allFuse();
    std::vector<Fuse> chosen;
    if (text == "none") return chosen;
    std::istringstream names(text + ",");
    for (std::string name; std::getline(names, name, ',');) {
        const Result<Fuse> family = parseName<Fuse>(name, "pattern to fuse");
        if (!family)
            return fail(ErrorCode::Usage, family.error().message,
                        "use all, none, or some of " + listNames<Fuse>() + " separated by commas");
        if (std::ranges::find(chosen, *family) == chosen.end()) chosen.push_back(*family);
    }
    std::ranges::sort(chosen);
    return chosen;
}

}  // namespace hopscope::base
