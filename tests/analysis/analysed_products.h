#pragma once

// The products of programs that are drawn as text (support/program_text.h).

#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "analysis/analyse.h"
#include "support/program_text.h"

namespace hopscope::test {

// `sizes`: rows of tables in the data, if there are other numbers than in the text.
inline analysis::Analysis analysedProducts(const std::string& text,
                                           const std::map<std::string, std::int64_t>& sizes = {},
                                           bool reassociate = true)
{
    auto drawn = drawProgram(text);
    for (const auto& [table, size] : sizes) drawn.schema.sizes[table] = size;
    analysis::Analysis a = analysis::analyse(drawn.program, drawn.schema, {.reassociate = reassociate});
    if (a.refusal) FAIL(base::describe(*a.refusal));
    return a;
}

inline bool isProduct(const ir::Op& op)
{
    return op.name == "aten::linear" || op.name == "aten::matmul" || op.name == "aten::addmm" || op.name == "aten::mm";
}

// The rows and columns that products have, "7x8 19x2".
inline std::string productsOf(const analysis::Analysis& a)
{
    std::string text;
    for (const ir::Op& op : a.program.ops) {
        if (!isProduct(op)) continue;
        const auto& rows = a.program.value(*op.args.at(op.name == "aten::addmm" ? 1 : 0).value()).shape;
        text += (text.empty() ? "" : " ") + std::to_string(rows[0]) + "x" + std::to_string(rows.back());
    }
    return text;
}

inline int countOps(const analysis::Analysis& a, const std::string& name)
{
    return static_cast<int>(std::ranges::count(a.program.ops, name, &ir::Op::name));
}

// The number of notes that contain this.
inline int notesWith(const analysis::Analysis& a, const std::string& words)
{
    return static_cast<int>(std::ranges::count_if(
        a.lints, [&](const analysis::Lint& lint) { return lint.message.find(words) != std::string::npos; }));
}

}  // namespace hopscope::test
