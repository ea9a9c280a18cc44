#include <doctest/doctest.h>

#include "analysis/roles/roles.h"

using namespace hopscope;
using analysis::EdgeForm;
using analysis::InputRole;
using analysis::RoleKind;

TEST_CASE("every form of --role is understood")
{
    struct Row {
        const char* text;
        const char* name;
        RoleKind kind;
        const char* first;
        const char* second;
        EdgeForm form = EdgeForm::Rows;
    };
    const Row rows[] = {
        {"x=node", "x", RoleKind::Node, "", ""},
        {"x=node:user", "x", RoleKind::Node, "user", ""},
        {"xs.user=node:user", "xs.user", RoleKind::Node, "user", ""},
        {"emb.weight=node:v", "emb.weight", RoleKind::Node, "v", ""},
        {"edge_index=index", "edge_index", RoleKind::Index, "", ""},
        {"ei=index:user>item", "ei", RoleKind::Index, "user", "item"},
        {"src=source", "src", RoleKind::Index, "", "", EdgeForm::Source},
        {"src=source:user>item", "src", RoleKind::Index, "user", "item", EdgeForm::Source},
        {"dst=destination:user>item", "dst", RoleKind::Index, "user", "item", EdgeForm::Destination},
        {"rowptr=offsets", "rowptr", RoleKind::Index, "", "", EdgeForm::Offsets},
        {"bags=starts", "bags", RoleKind::Index, "", "", EdgeForm::Starts},
        {"bags=starts:word>user", "bags", RoleKind::Index, "word", "user", EdgeForm::Starts},
        {"rowptr=offsets:user>item", "rowptr", RoleKind::Index, "user", "item", EdgeForm::Offsets},
        {"edge_attr=edge", "edge_attr", RoleKind::Edge, "", ""},
        {"edge_attr=edge:edge_index", "edge_attr", RoleKind::Edge, "edge_index", ""},
        {"ea=edge:es.a__b", "ea", RoleKind::Edge, "es.a__b", ""},
        {"batch=key", "batch", RoleKind::Key, "", ""},
        {"batch=key:node>graph", "batch", RoleKind::Key, "node", "graph"},
        {"u=graph", "u", RoleKind::Graph, "", ""},
        {"w=plain", "w", RoleKind::Plain, "", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        const auto role = analysis::parseRole(row.text);
        REQUIRE(role.has_value());
        CHECK(role->first == row.name);
        CHECK(role->second == InputRole{row.kind, row.first, row.second, "", true, row.form});
    }
}

TEST_CASE("each role of the table is read by its name, and with types it is written as it was read")
{
    for (const analysis::RoleWord& word : analysis::roleWords) {
        CAPTURE(word.name);
        const std::string whole = std::string(word.name) + word.types;
        CHECK(analysis::parseRole(std::string("x=") + word.name).has_value());
        const auto role = analysis::parseRole("x=" + whole);
        REQUIRE(role.has_value());
        CHECK(&analysis::wordOf(role->second) == &word);
        if (*word.types != '\0') CHECK(analysis::roleText(role->second) == whole);
    }
}

TEST_CASE("anything else is a usage error with a hint")
{
    for (const std::string text : {"", "x", "=node", "x=", "x=nodes", "x=node:", "x=node:a>b", "x=index:", "x=index:a",
                                   "x=index:a>", "x=index:>b", "x=index:a>b>c", "x=key:a", "x=key:>",
                                   "x=edge:", "x=plain:y", "x=graph:", "x:node", "x=Node"}) {
        CAPTURE(text);
        const auto role = analysis::parseRole(text);
        REQUIRE_FALSE(role.has_value());
        CHECK(role.error().code == base::ErrorCode::Usage);
        CHECK_FALSE(role.error().hint.empty());
    }
}
