#pragma once

// The steps from data to roles, in order: indices first, then tables, then everything that depends on either. Internal
// to inferSchema(), which begins with the data keys and the user's overrides. All fail with Input, as described at
// inferSchema().

#include <optional>

#include "analysis/roles/draft.h"

namespace hopscope::analysis::inference {

// Decides which items are edge indices, by name, dtype and shape, and scans them for the range of their ids.
base::Status findIndices(Draft& draft);
// Decides which items hold the starts of the bags of a table in others, which have a row for each item of a bag.
base::Status findBags(Draft& draft);
// Finds the dimension that has the rows of features with several batches: the first that all ids fit into.
base::Status findRowDims(Draft& draft);
// Finds the node tables and decides the items that declare them.
base::Status declareTables(Draft& draft);
// Makes node tables of rows with one bag each, if no other item has this number of rows.
base::Status declareBags(Draft& draft);
// Makes node tables of edges that other inputs point to, and of rows that are requested by number.
base::Status findEdgeTables(Draft& draft);
// Gives each index the node types that its two rows point to.
base::Status findEnds(Draft& draft);
// Checks that no id of an index exceeds its table.
base::Status checkIndices(Draft& draft);
// Decides all other items: rows of nodes, edges and graphs, keys, and plain ones.
base::Status placeRest(Draft& draft);
// Gives inputs on edges that are rows of a node table the roles of such rows.
base::Status settleEdgeTables(Draft& draft);

// The steps share the following. Makes an item an index, and scans it.
base::Status decideIndex(Item& item, EdgeForm form, std::string relation);
// True if its numbers ascend from 0, as the offsets of compressed rows do.
bool isOffsets(const Item& item, EdgeForm form = EdgeForm::Offsets);
// True if its name is that of the sources that offsets belong to.
bool namedSources(const Item& item);
// The shortest vector, named like the offsets, that may have a row for each item of the bags; nullptr if there is none.
Item* itemsOf(Draft& draft, const Item& offsets);
// True if the last number is the end of the last bag, given the number of items, by the numbers of rows that tables
// have; nullopt if no table fits either.
std::optional<EdgeForm> formOfOffsets(const Draft& draft, const Item& offsets, std::int64_t items);

}  // namespace hopscope::analysis::inference
