#pragma once

// Private to analysis: recomputes values on the rows of a different table, either on a whole table instead of a part
// selected from it, or on one part of a concatenation instead of all of it.

#include <map>

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

// Returns the number of rows of a table as a number of the program, from any value with these rows; invalid if there is
// none.
ValueId rowCount(Emitter& emitter, SpaceId table, const ir::Op& place);

class OtherRows {
public:
    // Recomputes on the table that `part`, a Filter, was selected from; it has `count` rows on the sample.
    static OtherRows wholeOf(Emitter& emitter, SpaceId part, std::int64_t count)
    {
        return {emitter, part, emitter.builder().analysis.tables.space(part).parent, count, 0};
    }
    // Recomputes on a part of `cat`.
    static OtherRows partOf(Emitter& emitter, SpaceId cat, std::size_t part);

    // Returns the value on the other rows; the value itself if it does not have the rows of the original table. Invalid
    // if the value is not computed row by row from values that are known on the other rows.
    ValueId of(ValueId v);

private:
    OtherRows(Emitter& emitter, SpaceId from, SpaceId to, std::int64_t count, std::size_t part)
        : m_emitter(emitter),
          m_builder(emitter.builder()),
          m_from(from),
          m_to(to),
          m_count(count),
          m_part(part)
    {}

    bool concerns(ValueId v) const;
    ValueId computed(ValueId v);
    ValueId madeOf(const ir::Op& op);
    bool looksUp(const OpInfo& info) const;
    ValueId again(ir::Op op, std::size_t output);
    void resize(ir::Op& op);
    ir::Arg moved(const ir::Arg& arg, bool& possible);
    ir::Value moved(ValueId v) const;

    Emitter& m_emitter;
    Builder& m_builder;
    SpaceId m_from, m_to;
    std::int64_t m_count;
    std::size_t m_part;
    std::map<ValueId, ValueId> m_done;
};

}  // namespace hopscope::analysis
