#include "analysis/rows/linear.h"

#include <algorithm>

namespace hopscope::analysis {

namespace {

template <class Map>
void addScaled(Map& into, const Map& from, std::int64_t factor)
{
    for (const auto& [key, coefficient] : from) {
        std::int64_t& c = into[key];
        c += factor * coefficient;
        if (c == 0) into.erase(key);
    }
}

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    const std::int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::optional<std::int64_t> onConstants(const std::string& name, std::int64_t a, std::int64_t b)
{
    if (name == "floordiv" && b != 0) return floorDivide(a, b);
    if (name == "mod" && b != 0) return a - floorDivide(a, b) * b;
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    return std::nullopt;
}

}  // namespace

Linear add(const Linear& a, const Linear& b, std::int64_t factor)
{
    Linear r = a;
    addScaled(r.sizes, b.sizes, factor);
    addScaled(r.atoms, b.atoms, factor);
    r.constant += factor * b.constant;
    return r;
}

Linear scale(const Linear& a, std::int64_t factor) { return add(Linear{}, a, factor); }

std::optional<Linear> combine(const std::string& name, const std::vector<Linear>& x)
{
    if (x.size() == 1) {
        if (name == "neg") return scale(x[0], -1);
        if (name == "int") return x[0];
        return std::nullopt;
    }
    if (x.size() != 2) return std::nullopt;
    if (name == "add") return add(x[0], x[1]);
    if (name == "sub") return add(x[0], x[1], -1);
    if (name == "mul" && x[1].isConstant()) return scale(x[0], x[1].constant);
    if (name == "mul" && x[0].isConstant()) return scale(x[1], x[0].constant);
    if (name == "floordiv" && x[1] == constant(1)) return x[0];
    if ((name == "min" || name == "max") && x[0] == x[1]) return x[0];
    if (!x[0].isConstant() || !x[1].isConstant()) return std::nullopt;
    const auto c = onConstants(name, x[0].constant, x[1].constant);
    return c ? std::optional(constant(*c)) : std::nullopt;
}

}  // namespace hopscope::analysis
