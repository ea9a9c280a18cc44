#include "debugger/match.h"

#include <algorithm>
#include <sstream>

#include "analysis/naming/value_names.h"

namespace hopscope::debugger {

namespace {

using Keys = std::vector<std::string>;

Keys keysOf(const ir::Program& program)
{
    Keys keys;
    for (const ir::Op& op : program.ops) keys.push_back(ir::modulePath(op.modules) + "|" + op.name);
    return keys;
}

// The length of a longest common subsequence of the parts from (i, j) on.
using Lengths = std::vector<std::vector<std::uint32_t>>;

Lengths lengthsOf(const Keys& a, const Keys& b, std::size_t begin, std::size_t endA, std::size_t endB)
{
    Lengths lengths(endA - begin + 1, std::vector<std::uint32_t>(endB - begin + 1, 0));
    for (std::size_t i = endA; i-- > begin;)
        for (std::size_t j = endB; j-- > begin;)
            lengths[i - begin][j - begin] =
                a[i] == b[j] ? lengths[i + 1 - begin][j + 1 - begin] + 1
                             : std::max(lengths[i + 1 - begin][j - begin], lengths[i - begin][j + 1 - begin]);
    return lengths;
}

std::string textOf(const ir::Arg& arg)
{
    std::ostringstream text;
    if (const auto* integer = arg.integer()) text << *integer;
    else if (const auto* real = std::get_if<double>(&arg.data)) text << *real;
    else if (const auto* truth = std::get_if<bool>(&arg.data)) text << (*truth ? "true" : "false");
    else if (const auto* string = std::get_if<std::string>(&arg.data)) text << "'" << *string << "'";
    else if (arg.none()) text << "none";
    else if (const ir::ArgList* items = arg.list()) {
        for (const ir::Arg& item : *items) text << (text.str().empty() ? "[" : ", ") << textOf(item);
        text << (items->empty() ? "[]" : "]");
    }
    return text.str();
}

}  // namespace

std::vector<OperatorPair> matchOperators(const ir::Program& first, const ir::Program& second)
{
    const Keys a = keysOf(first), b = keysOf(second);
    std::size_t begin = 0, endA = a.size(), endB = b.size();
    while (begin < std::min(endA, endB) && a[begin] == b[begin]) ++begin;
    while (endA > begin && endB > begin && a[endA - 1] == b[endB - 1]) --endA, --endB;
    std::vector<OperatorPair> pairs;
    for (std::size_t i = 0; i < begin; ++i) pairs.emplace_back(ir::OpId(i), ir::OpId(i));
    const Lengths lengths = lengthsOf(a, b, begin, endA, endB);
    for (std::size_t i = begin, j = begin; i < endA && j < endB;) {
        if (a[i] == b[j]) pairs.emplace_back(ir::OpId(i++), ir::OpId(j++));
        else if (lengths[i + 1 - begin][j - begin] >= lengths[i - begin][j + 1 - begin]) ++i;
        else ++j;
    }
    for (std::size_t k = 0; endA + k < a.size(); ++k) pairs.emplace_back(ir::OpId(endA + k), ir::OpId(endB + k));
    return pairs;
}

std::vector<std::string> differentArguments(const ir::Op& first, const ir::Op& second)
{
    std::vector<std::string> found;
    for (std::size_t i = 0; i < std::min(first.args.size(), second.args.size()); ++i) {
        const std::string a = textOf(first.args[i]), b = textOf(second.args[i]);
        const bool literal = !first.args[i].value() && !second.args[i].value();
        if (!literal || a == b) continue;
        const std::string name = i < first.argInfo.size() ? first.argInfo[i].name : "argument " + std::to_string(i);
        found.push_back(name + ": " + a + ", " + b);
    }
    return found;
}

schema::OperatorRecord recordOf(const analysis::Analysis& analysis, const ir::Op& op, ir::ValueId value)
{
    return {.op = op.id,
            .value = value,
            .name = analysis::nameOfValue(analysis, value),
            .kind = op.name,
            .module = ir::modulePath(op.modules),
            .source = ir::describeSource(op.source),
            .depth = analysis.info(op.id).depth};
}

}  // namespace hopscope::debugger
