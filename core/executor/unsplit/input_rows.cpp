#include "executor/input_rows.h"

namespace hopscope::executor {

InputRow inputRow(Structure& structure, const analysis::Analysis& analysis, ir::SpaceId table, std::int64_t row)
{
    using analysis::SpaceKind;
    const analysis::Space& space = analysis.tables.space(table);
    if (space.kind == SpaceKind::Filter || space.kind == SpaceKind::Perm)
        return inputRow(structure, analysis, space.parent, structure.parentRows(table)[row]);
    if (space.kind == SpaceKind::Cat) {
        std::size_t part = 0;
        while (row >= structure.size(space.parts[part])) row -= structure.size(space.parts[part++]);
        return inputRow(structure, analysis, space.parts[part], row);
    }
    InputRow found{.table = table, .row = row, .ends = std::nullopt};
    if (space.kind == SpaceKind::Edge)
        found.ends = {structure.column(table, analysis.tables.endKey(0))[row],
                      structure.column(table, analysis.tables.endKey(1))[row]};
    return found;
}

}  // namespace hopscope::executor
