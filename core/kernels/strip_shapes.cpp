#include "kernels/strip_shapes.h"

#include <algorithm>

#include "kernels/strip_launch.h"

namespace hopscope::kernels {

namespace {

using From = StripOperand::From;

constexpr std::int64_t kNear = 1 << 24;  // elements from row to row, so that those of a strip are counted in 32 bits

bool fits(const ShapeOperand& known, const StripOperand& o, const StripProgram& p)
{
    if (o.from != known.from || o.at != known.at) return false;
    const bool rows = o.from != From::Table || p.tables[static_cast<std::size_t>(o.at)] == known.rows;
    return rows && (o.plain() || !known.whole);
}

bool fits(const ShapeStep& known, const StripStep& s, const StripProgram& p)
{
    return s.op == known.op && s.combine == known.combine && s.perDestination == known.perDestination &&
           s.to == known.to && fits(known.a, s.a, p) && fits(known.b, s.b, p);
}

bool fits(const Shape& known, const StripProgram& p)
{
    const auto step = [&](const StripStep& s, const ShapeStep& k) { return fits(k, s, p); };
    return std::equal(p.steps.begin(), p.steps.end(), known.steps, known.steps + known.count, step);
}

}  // namespace

int shapeOf(const StripProgram& program, const StripArguments& arguments)
{
    const auto narrow = [](const StripTable& t) {
        return t.host.places == nullptr && (t.columns.data == nullptr || !t.columns.wide) && t.stride <= kNear;
    };
    if (program.element != StripElement::Float32 || !std::ranges::all_of(arguments.tables, narrow)) return kNoShape;
    const Shape* const found = std::ranges::find_if(kShapes, [&](const Shape& s) { return fits(s, program); });
    return found == std::end(kShapes) ? kNoShape : static_cast<int>(found - kShapes);
}

}  // namespace hopscope::kernels
