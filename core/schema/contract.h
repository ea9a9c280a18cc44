#pragma once

// JSON Schemas and tables of docs/ follow from the tables of described structs and are checked in. tools/contract
// writes them; the test house_contract fails if one is stale.

#include <string>
#include <vector>

#include "json/json.h"

namespace hopscope::schema {

struct DocumentedStruct {
    std::string name;   // as in the schema's definitions
    std::string table;  // Markdown, a row per member in their order
};

struct Contract {
    std::string file;  // in resources/schemas
    json::Value schema;
    std::string page;  // in docs; tables are between <!-- members NAME --> and <!-- end -->; empty: none
    std::vector<DocumentedStruct> structs;
};

// The roles that inputs may have, as Markdown.
std::string rolesTable();

// The contracts of all described documents.
std::vector<Contract> contracts();

}  // namespace hopscope::schema
