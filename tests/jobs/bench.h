#pragma once

// A workbench with the made-up engine and a document to look at.

#include <QTest>

#include "base/rules.h"
#include "fake_engine.h"
#include "jobs/workbench.h"
#include "schema/names.h"

namespace hopscope::jobs {

// An engine, a document and a workbench between them.
struct Bench {
    EngineClient engine;
    models::Document document;
    Workbench workbench{engine, document};

    explicit Bench(const QStringList& arguments = {}) : engine(fake::command(arguments)) { engine.start(); }

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

    [[nodiscard]] bool idle() const { return !workbench.busy(); }
};

// With a model of three layers and a plan for it.
struct OpenBench : Bench {
    OpenBench() { open("chain3.pt"); }
};

inline protocol::ValueId valueOf(const char* id) { return schema::valueNamed(id).value(); }

// chain3: v2 linear, v5 result of layer 0; v6, v9 of layer 1; v10, v13 of layer 2.
inline const char* const firstResult = "v5";
inline const char* const secondLinear = "v6";
inline const char* const secondResult = "v9";

}  // namespace hopscope::jobs
