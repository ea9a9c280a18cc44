#pragma once

// Private to analysis: values on a part of a table, computed on the whole table instead.

#include <map>

#include "analysis/rows/decompose.h"

namespace hopscope::analysis {

class Widened {
public:
    // `part` is a Filter of a table that has `count` rows on the sample.
    Widened(Emitter& emitter, SpaceId part, std::int64_t count)
        : m_emitter(emitter),
          m_builder(emitter.builder()),
          m_part(part),
          m_count(count)
    {}

    // The value itself if it does not have this part's rows; invalid where it is not computed row by row from values of the
    // whole table.
    ValueId of(ValueId v);

private:
    bool concerns(ValueId v) const;
    ValueId computed(ValueId v);
    ValueId again(ir::Op op, std::size_t output);
    ir::Arg widened(const ir::Arg& arg, bool& possible);
    ir::Value widened(ValueId v) const;

    Emitter& m_emitter;
    Builder& m_builder;
    SpaceId m_part;
    std::int64_t m_count;
    std::map<ValueId, ValueId> m_done;
};

}  // namespace hopscope::analysis
