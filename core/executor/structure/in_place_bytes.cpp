#include "executor/structure/in_place_bytes.h"

#include "analysis/stored.h"

namespace hopscope::executor {

std::map<ir::ValueId, std::int64_t> inPlaceBytes(const analysis::Analysis& analysis, Structure& structure,
                                                 const LoopProgram& program)
{
    std::map<ir::ValueId, std::int64_t> bytes;
    for (const ir::ValueId v : program.inPlace) {
        if (analysis.program.value(v).origin == ir::Origin::Op) {
            bytes[v] = analysis::storedBytes(analysis, v, program.store, wholeBytes(analysis, v, structure.sizes()));
        } else {  // rows of an input may lie apart
            const at::Tensor table = structure.value(v);
            bytes[v] = table.size(0) * table.stride(0) * static_cast<std::int64_t>(table.element_size());
        }
    }
    return bytes;
}

}  // namespace hopscope::executor
