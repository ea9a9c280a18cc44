#pragma once

// The steps from data to roles, in order: indices first, then tables, then everything that depends on either. Internal
// to inferSchema(), which begins with the data keys and the user's overrides. All steps fail with Input, as described
// at inferSchema().

#include <optional>

#include "analysis/roles/draft.h"

namespace hopscope::analysis::inference {

// Decides which items are edge indices, by name, dtype and shape, and scans them for the range of their ids.
base::Status findIndices(Draft& draft);
// Decides which items hold the starts of bags, and which hold a row for each item of these bags.
base::Status findBags(Draft& draft);
// Finds the row dimension of features that have several batches: the first dimension that all ids fit into.
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
// Changes the roles of inputs on edges whose relation has become a node table.
base::Status settleEdgeTables(Draft& draft);

// The following functions are shared by the steps.

// Makes an item an index, and scans it for the range of its ids.
base::Status decideIndex(Item& item, EdgeForm form, std::string relation);
// True if the item's numbers ascend from 0, as the offsets of compressed rows do.
bool isOffsets(const Item& item, EdgeForm form = EdgeForm::Offsets);
// True if the item is named like the sources that such offsets divide.
bool namedSources(const Item& item);
// Returns the vector that probably has a row for each item of the bags, judged by name and length; nullptr if there is
// none.
Item* itemsOf(Draft& draft, const Item& offsets);
// Returns Offsets if the last number is the end of the last bag, or Starts if it is the start of that bag. The number
// of items and the numbers of rows of tables decide; nullopt if no table fits either form.
std::optional<EdgeForm> formOfOffsets(const Draft& draft, const Item& offsets, std::int64_t items);

}  // namespace hopscope::analysis::inference
