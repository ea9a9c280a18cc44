#pragma once

// Documents as the engine writes them, of the model that tests/schema draws by hand.

#include <doctest/doctest.h>

#include <random>

#include "protocol/model.h"
#include "schema/documents.h"
#include "schema/fixture.h"
#include "schema/inspect.h"

namespace hopscope::test {

inline std::string inspectText()
{
    static const analysis::Analysis analysis = fixture::analysis();
    static const plan::Plan plan = fixture::plan();
    analysis::InputSchema inputs;
    inputs.roles["x"] = {analysis::RoleKind::Node, "node", "", "", false};
    inputs.roles["edge_index"] = {analysis::RoleKind::Index, "node", "node", "edge_index", false};
    schema::InspectSubject subject;
    subject.analysis = &analysis;
    subject.plan = &plan;
    subject.inputs = &inputs;
    subject.model = "model.pt";
    subject.modelClass = "Net";
    subject.sizes = schema::tableSizes(analysis, {{"node", 5}, {"edge_index", 7}});
    subject.hashes = {{"model", "00ff"}};
    subject.notes = {"a note"};
    return schema::writeInspect(subject);
}

inline const protocol::ModelRecord& model()
{
    static const auto read = protocol::readModel(json::parse(test::inspectText()).value());
    REQUIRE(read);
    return *read;
}

inline std::string planResultText()
{
    json::Value stage;
    for (const char* key : {"written", "read", "structure", "frontier_rows", "destinations", "peak_memory"})
        stage[key] = 10;
    stage["index"] = 1;
    stage["recomputed"] = json::Value(std::vector<std::string>{"op2"});
    json::Value predicted;
    for (const char* key : {"batch", "batches", "stores", "d2h", "h2d", "structure", "peak_memory"})
        predicted[key] = 20;
    predicted["stages"].push(stage);
    json::Value result;
    result["plan"] = json::parse(schema::writePlan(fixture::plan(), fixture::analysis())).value();
    result["predicted"] = predicted;
    return json::write(result);
}

// One byte, one stretch or one number changed, or a piece moved: what a damaged peer might send.
inline std::string damaged(std::string text, std::mt19937& random)
{
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
    case 0: text[at] = static_cast<char>(random()); break;
    case 1: text.erase(at, random() % 40); break;
    case 2: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
    default:
        for (std::size_t i = at; i < text.size(); ++i)
            if (text[i] >= '0' && text[i] <= '9') {
                text.replace(i, 1, std::to_string(static_cast<std::int64_t>(random()) - 2'000'000'000));
                break;
            }
    }
    return text;
}

}  // namespace hopscope::test
