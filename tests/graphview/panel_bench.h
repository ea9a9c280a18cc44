#pragma once

#include <QAction>
#include <QTest>

#include "graphview/graph_samples.h"
#include "graphview/view/graph_panel.h"
#include "graphview/view/graph_view.h"

namespace hopscope::graphview {

// A panel with a model in it, as the window has it.
struct Bench {
    models::Document document;
    models::Selection selection;
    GraphPanel panel{document, selection};
    models::ModelPtr model;
    models::PlanPtr plan;

    explicit Bench(const QString& name = QStringLiteral("jknet"), QSize size = {1000, 1400})
    {
        model = name == QLatin1String("large")
                    ? samples::largeModel(10'000)
                    : samples::readModelFile(QStringLiteral(GRAPH_DATA "/%1.inspect.json").arg(name));
        plan = samples::readPlanFile(QStringLiteral(GRAPH_DATA "/%1.plan.json").arg(name), model);
        panel.resize(size);
        panel.setReducedMotion(true);
        panel.setLayoutCommand({LAYOUT_PROGRAM});
        panel.show();
        document.setModel(model);
        if (plan) document.setPlan(plan);
        settle();
        view().setFocus();
    }
    void settle()
    {
        QVERIFY(QTest::qWaitFor([this] { return panel.layoutReady(); }, 60'000));
    }
    GraphView& view() { return *panel.findChild<GraphView*>(); }
    const Scene& scene() { return *view().scene(); }
    int node(const char* label) { return nth(label, 0); }
    int nth(const char* label, int skip)
    {
        for (std::size_t i = 0; i < scene().nodes.size(); ++i)
            if (scene().graph->nodes[i].label == QString::fromUtf8(label) && skip-- == 0) return static_cast<int>(i);
        return -1;
    }
    QPoint at(int node) { return view().camera().toScreen(scene().nodes[node].center() + QPointF(20, 0)).toPoint(); }
    void click(int node) { QTest::mouseClick(&view(), Qt::LeftButton, {}, at(node)); }
    QAction* action(const char* name)
    {
        for (QAction* found : panel.viewActions())
            if (found->objectName() == QLatin1String(name)) return found;
        return nullptr;
    }
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) { QTest::keyClick(&view(), key, modifiers); }
};

inline QPoint pathPoint(Bench& bench, const SceneEdge& edge, qreal t)
{
    return bench.view().camera().toScreen(pointOnPath(edge.path, t)).toPoint();
}

}  // namespace hopscope::graphview
