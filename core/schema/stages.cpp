#include "schema/stages.h"

namespace hopscope::schema {

plan::StageId readStage(const json::Reader& reader)
{
    const plan::StageId stage(reader.as<int>());
    if (!stage.valid() && reader.ok()) reader.refuse("is not a stage: stages count from 1");
    return stage;
}

std::vector<plan::StageId> readStages(const json::Reader& list)
{
    std::vector<plan::StageId> stages;
    for (const json::Reader& item : list.items()) stages.push_back(readStage(item));
    return stages;
}

json::Value stageList(const std::vector<plan::StageId>& stages)
{
    json::Value list = json::Value::array();
    for (const plan::StageId stage : stages) list.push(stage.number);
    return list;
}

}  // namespace hopscope::schema
