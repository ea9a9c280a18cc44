#pragma once

// The engine of fake_engine.py, and what its tests ask it for.

#include <QStringList>
#include <QTest>
#include <optional>

#include "jobs/engine_client.h"

namespace hopscope::fake {

inline QStringList command(const QStringList& arguments = {})
{
    return QStringList{QStringLiteral(HOPSCOPE_PYTHON), QStringLiteral("-B"), QStringLiteral(HOPSCOPE_FAKE_ENGINE)} +
           arguments;
}

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

}  // namespace hopscope::fake
