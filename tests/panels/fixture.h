#pragma once

// A document with two layers, a plan and a workbench whose engine is never started.

#include <QLabel>
#include <QTest>

#include "models/run_log.h"
#include "panels/panels.h"
#include "schema/report.h"
#include "widgets_models/drawn_model.h"

namespace hopscope::panels {

struct Fixture {
    models::Document document;
    models::Selection selection;
    jobs::EngineClient engine{QStringList{QStringLiteral("no-engine")}};
    jobs::Workbench workbench{engine, document};
    Context context{document, selection, workbench};

    void open()
    {
        auto model = std::make_shared<const protocol::ModelRecord>(drawn::twoLayers());
        document.setModel(model);
        document.setPlan(std::make_shared<const protocol::PlanRecord>(drawn::twoLayerPlan(*model)));
    }

    [[nodiscard]] protocol::OpId op(const char* id) const { return document.model()->findOp(id); }

    // Makes a panel, with theme and size, and shows it.
    std::unique_ptr<Panel> show(Panel* (*make)(const Context&, QWidget*), QSize size)
    {
        std::unique_ptr<Panel> panel(make(context, nullptr));
        panel->setTheme(style::loadTheme(style::Mode::Light));
        panel->resize(size);
        panel->show();
        return panel;
    }
};

struct OpenFixture : Fixture {
    OpenFixture() { open(); }
};

// A run of `stages` stages with `batches` batches each, a millisecond per phase; finished or in its last batch.
inline protocol::RunEvents scriptedRun(int stages, int batches, bool finished)
{
    protocol::RunEvents run;
    double now = 0.001;
    run.events.push_back(protocol::PrologueEvent{now});
    for (int stage = 1; stage <= stages; ++stage) {
        const double start = now;
        run.events.push_back(protocol::StageEvent{protocol::StageId(stage), stages, 10 * batches, now});
        for (int batch = 0; batch < batches; ++batch) {
            for (int phase = 0; phase < protocol::phaseCount; ++phase, now += 0.001)
                run.events.push_back(
                    protocol::PhaseEvent{protocol::StageId(stage), batch, plan::Phase(phase), now, 0.001});
            protocol::BatchEvent event;
            event.stage = protocol::StageId(stage);
            event.batch = batch;
            event.destinations = 10;
            event.done = 10 * (batch + 1);
            event.total = 10 * batches;
            event.memory = 500;
            event.peakMemory = 1000 + batch;
            event.time = now;
            run.events.push_back(event);
        }
        if (finished || stage < stages)
            run.events.push_back(protocol::StageEndEvent{protocol::StageId(stage), now - start, now, {}});
    }
    run.state = finished ? protocol::RunState::Finished : protocol::RunState::Running;
    return run;
}

inline schema::Report report(schema::Verdict verdict)
{
    schema::Report made;
    made.device = "cpu";
    made.seconds = 2;
    for (int stage = 1; stage <= 2; ++stage) {
        made.stages.emplace_back();
        made.stages.back().index = protocol::StageId(stage);
        made.stages.back().seconds = stage;
        made.stages.back().phases = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
        made.stages.back().peakMemory = 900;
    }
    made.verify.emplace().verdict = verdict;
    made.verify->coverage = {schema::CoverageMethod::Full, 2708, 2708, 0, 2708, 2};
    made.verify->outputs = {{"out", 3e-7, 1e-6, 2708, verdict == schema::Verdict::Different ? 17 : 0, 0}};
    made.verify->checkpoints = {{"v.r0", 0, 0, 2708, 0, 0}};
    made.verify->tolerance = {1e-5, 1e-4, 1e-6};
    return made;
}

// Everything but what the offscreen platform says of itself.
inline void failOnWarnings()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support)")));
}

inline QString text(const QWidget& panel, const char* name)
{
    const auto* label = panel.findChild<QLabel*>(QString::fromLatin1(name));
    return label != nullptr ? label->text() : QStringLiteral("no label");
}

template <class T>
T* part(const QWidget& panel, const char* name)
{
    return panel.findChild<T*>(QString::fromLatin1(name));
}

}  // namespace hopscope::panels
