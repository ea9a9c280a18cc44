#pragma once

// The engine of player.py, which plays recorded answers, and what its tests ask it for.

#include <QStringList>
#include <QTest>
#include <optional>

#include "jobs/workbench.h"

namespace hopscope::player {

inline QStringList command(const QStringList& arguments = {})
{
    return QStringList{QStringLiteral(HOPSCOPE_PYTHON), QStringLiteral("-B"), QStringLiteral(HOPSCOPE_PLAYER)} +
           arguments;
}

inline constexpr std::int64_t gpuMemory = 4 << 20;

// Collects the answers of requests in the order in which they come.
struct Answers {
    std::vector<base::Result<json::Value>> all;
    QObject context;

    jobs::EngineClient::Answer keep()
    {
        return [this](base::Result<json::Value> result) { all.push_back(std::move(result)); };
    }
    [[nodiscard]] int count() const { return static_cast<int>(all.size()); }
};

inline json::Value object(const char* key, json::Value value)
{
    json::Value result = json::Value::object();
    result[key] = std::move(value);
    return result;
}

// Plans for ten batches in each stage, as one is best for so small a graph, and on a GPU for so little memory that nothing stays
// there. False: there is no such plan.
inline bool setBatches(jobs::Workbench& workbench, const models::Document& document, bool gpu = false)
{
    models::Settings settings = document.settings();
    settings.batch = 1000;
    if (gpu) settings.device = "cuda:0";
    if (gpu) settings.memory = gpuMemory;
    workbench.setRunSettings(settings);
    return QTest::qWaitFor([&] { return document.plan()->batch == settings.batch && !workbench.busy(); }, 60'000);
}

}  // namespace hopscope::player
