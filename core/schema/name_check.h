#pragma once

// Private to schema: refuses names that the model of a document lacks.

#include <vector>

#include "schema/model_names.h"
#include "schema/names.h"
#include "schema/pins.h"
#include "json/reader.h"

namespace hopscope::schema {

// Refuses a name where it occurs. Meant for json::forEachForm.
class NameCheck {
public:
    explicit NameCheck(const ModelNames& model) : m_model(model) {}

    void operator()(ir::OpId op, const json::Reader& place) const { check(m_model.op, op, place, "operator"); }
    void operator()(ir::ValueId value, const json::Reader& place) const { check(m_model.value, value, place, "value"); }
    void operator()(const TableName& name, const json::Reader& place) const
    {
        check(m_model.table, name, place, "table");
    }
    void operator()(const KeyName& name, const json::Reader& place) const { check(m_model.key, name, place, "key"); }
    void operator()(const RowsName& name, const json::Reader& place) const
    {
        check(m_model.rows, name, place, "row class");
    }
    void operator()(const std::vector<plan::Pin>&, const json::Reader& place) const
    {
        readPins(place, [&](const std::string& name) {
            const std::optional<ir::ValueId> value = valueNamed(name);
            return value && m_model.value(*value) ? value : std::nullopt;
        });
    }
    template <class Other>
    void operator()(const Other&, const json::Reader&) const
    {}

private:
    template <class Has, class Name>
    static void check(const Has& has, const Name& name, const json::Reader& place, const char* what)
    {
        if (has && !has(name)) place.refuse("names no " + std::string(what) + " of this model");
    }

    const ModelNames& m_model;
};

}  // namespace hopscope::schema
