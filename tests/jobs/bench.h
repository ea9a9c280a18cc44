#pragma once

// A workbench with an engine that plays recorded answers, and a document to look at.

#include <QTest>

#include "base/rules.h"
#include "player.h"
#include "schema/names.h"

namespace hopscope::jobs {

// An engine, a document and a workbench between them.
struct Bench {
    EngineClient engine;
    models::Document document;
    Workbench workbench{engine, document};

    explicit Bench(const QStringList& arguments = {}) : engine(player::command(arguments)) { engine.start(); }

    void open(const QString& model)
    {
        workbench.open(model, {"graph.safetensors"}, {});
        QTRY_VERIFY(document.reference(base::rules.back()) != nullptr);
        QTRY_VERIFY(document.plan() != nullptr);
        QTRY_VERIFY(!workbench.busy());
    }

    // Ids of the values that the plan stores, outputs left out.
    [[nodiscard]] QStringList stored() const
    {
        QStringList ids;
        for (const protocol::PlanCheckpoint& checkpoint : document.plan()->checkpoints)
            if (!checkpoint.output)
                ids.append(QString::fromStdString(document.model()->values.at(checkpoint.value).id));
        return ids;
    }

    void setBatches() { QVERIFY(player::setBatches(workbench, document)); }

    [[nodiscard]] bool idle() const { return !workbench.busy(); }
};

// With a model of three layers and a plan for it.
struct OpenBench : Bench {
    explicit OpenBench(const QStringList& arguments = {}) : Bench(arguments) { open("chain3.pt"); }
};

inline protocol::ValueId valueOf(const char* id) { return schema::valueNamed(id).value(); }

// Of chain3; sums are stored as cheaply as the results that are made of them.
inline const char* const firstLinear = "v8";
inline const char* const firstSum = "v13";
inline const char* const firstResult = "v14";
inline const char* const secondLinear = "v15";
inline const char* const secondSum = "v18";
inline const char* const secondResult = "v19";

}  // namespace hopscope::jobs
