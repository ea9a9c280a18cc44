#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "optimiser/document.h"
#include "json/json.h"

namespace hopscope::test {

// The acceptance cases: what they are and what is expected of them.
struct Cases {
    std::string text;
    json::Value document;
    std::vector<optimiser::Instance> instances;
    std::vector<const json::Value*> values;  // in the instances' order
};

inline const Cases& cases()
{
    static const Cases all = [] {
        Cases c;
        std::ifstream file(HOPSCOPE_PLACEMENT_CASES);
        std::stringstream text;
        text << file.rdbuf();
        c.text = text.str();
        auto parsed = json::parse(c.text, "placement_cases.json");
        REQUIRE_MESSAGE(parsed, (parsed ? "" : base::describe(parsed.error())));
        c.document = std::move(*parsed);
        auto instances = optimiser::readInstances(c.document, "placement_cases.json");
        REQUIRE_MESSAGE(instances, (instances ? "" : base::describe(instances.error())));
        c.instances = std::move(*instances);
        return c;
    }();
    static const bool listed = [] {
        auto& values = const_cast<Cases&>(all).values;
        for (const char* const key : {"cases", "random_cases"})
            for (const json::Value& item : *all.document.find(key)->asArray()) values.push_back(&item);
        return true;
    }();
    CHECK(listed);
    return all;
}

inline double number(const json::Value& value)
{
    return value.asInt() != nullptr ? static_cast<double>(*value.asInt()) : *value.asDouble();
}

inline std::string dump(const optimiser::Instance& instance) { return json::write(writeInstance(instance)); }

}  // namespace hopscope::test
