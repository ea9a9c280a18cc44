#pragma once

// Generates JSON Schemas and tables of docs/ from the descriptions of structs, and the table of roles. tools/contract
// writes the files, which are checked in; the test house_contract fails if one is outdated.

#include <string>
#include <vector>

#include "json/json.h"

namespace hopscope::schema {

struct DocumentedStruct {
    std::string name;   // as in the mark of the table in docs/reference or docs/guides
    std::string table;  // Markdown
};

struct Contract {
    std::string file;  // in resources/schemas
    json::Value schema;
    std::string page;  // in docs/reference; tables are between <!-- members NAME --> and <!-- end -->; empty: none
    std::vector<DocumentedStruct> structs;
};

// Return the roles that inputs may have, the strategies and the kinds of pins as Markdown tables.
std::string rolesTable();
std::string strategiesTable();
std::string pinsTable();

// Returns a contract for each file in resources/schemas except that of the requests.
std::vector<Contract> contracts();

}  // namespace hopscope::schema
