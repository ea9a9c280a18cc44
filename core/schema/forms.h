#pragma once

// Private to schema: ids as documents have them.

#include "schema/names.h"
#include "schema/stages.h"
#include "json/described.h"

namespace hopscope::json {

template <>
struct Form<plan::StageId> {
    static Value write(plan::StageId stage) { return stage.number; }
    static plan::StageId read(const Reader& reader) { return schema::readStage(reader); }
    static Value schema() { return typed("integer"); }
};

// "op12"; empty: none.
template <>
struct Form<ir::OpId> {
    static Value write(ir::OpId op) { return op.valid() ? ir::opName(op) : std::string(); }
    static ir::OpId read(const Reader& reader)
    {
        return reader.as<std::string>().empty() ? ir::OpId() : schema::readOp(reader);
    }
    static Value schema() { return typed("string"); }
};

// "v5".
template <>
struct Form<ir::ValueId> {
    static Value write(ir::ValueId value) { return ir::valueName(value); }
    static ir::ValueId read(const Reader& reader) { return schema::readValue(reader); }
    static Value schema() { return typed("string"); }
};

}  // namespace hopscope::json
