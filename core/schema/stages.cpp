#include "schema/stages.h"

namespace hopscope::schema {

plan::StageId readStage(const json::Reader& reader)
{
    const plan::StageId stage(reader.as<int>());
    if (!stage.valid() && reader.ok()) reader.refuse("is not a stage: stages count from 1");
    return stage;
}

}  // namespace hopscope::schema
