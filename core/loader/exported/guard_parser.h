#pragma once

// Reads the conditions on sizes in an exported program, which torch.export writes in Python ("guards"):
//     L['edge_index'].size()[1] > 4*L['x'].size()[0]
//     (L['x_dict']['user'].size()[0] % 2) == 0
//     math.floor(L['flat_args'][0].size()[0] / 3) > 5

#include <optional>
#include <string_view>

#include "loader/size_expression.h"

namespace hopscope::loader::exported {

// Nothing is executed. Returns nullopt for everything other than arithmetic on sizes. Arguments have the names of the
// data ("x_dict.user"), except for "flat_args.0", the first of all arguments. Linear in the length of the code.
std::optional<SizeExpression> parseGuard(std::string_view code);

}  // namespace hopscope::loader::exported
