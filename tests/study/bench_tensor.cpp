// What looking at a tensor of 1,000,000 rows costs: frames while it is scrolled line by line, page by page and anywhere, with
// the answers of the engine read on the way, and how long it takes to show it. Prints a table with goals; exits with 1 if one is
// missed three times in a row. Milliseconds are what the GUI thread really worked.

#include <QCoreApplication>
#include <QHeaderView>
#include <QScrollBar>
#include <cmath>
#include <cstdio>

#include "study/tensors/heat_map.h"
#include "study/tensors/tensor_model.h"
#include "support/qt_suites.h"
#include "support/stop_watch.h"

using namespace hopscope;
using namespace hopscope::study;

namespace {

constexpr qint64 rows = 1'000'000;
constexpr int columns = 64, frames = 400;

// An answer of debug/rows, as it comes from the engine.
json::Value answer(qint64 begin, qint64 end)
{
    protocol::TensorRows made{.dtype = base::DType::Float32, .begin = begin, .end = end};
    made.bytes.resize(static_cast<std::size_t>((end - begin) * columns) * sizeof(float));
    auto* numbers = reinterpret_cast<float*>(made.bytes.data());
    for (qint64 row = begin; row < end; ++row) {
        for (int column = 0; column < columns; ++column)
            *numbers++ = std::sin(static_cast<float>(row % 977) + static_cast<float>(column));
        made.names.push_back({"node", row, {}});
    }
    return protocol::writeTensorRows(made);
}

struct Viewer {
    QWidget window;
    TensorModel model;
    QTableView table{&window};
    HeatMap heat{model, table, &window};
    std::vector<json::Value> answers;  // on their way
    double engine = 0;                 // milliseconds of making answers, which is the engine's work

    Viewer()
    {
        const style::Theme theme = style::loadTheme(style::Mode::Light);
        model.setTheme(theme);
        heat.setTheme(theme);
        heat.setRange(-1, 1);
        table.setModel(&model);
        table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
        table.verticalHeader()->setDefaultSectionSize(22);
        window.resize(1000, 900);
        table.setGeometry(0, 0, 860, 900);
        heat.setGeometry(864, 0, 136, 900);
        QObject::connect(&model, &TensorModel::rowsWanted, &window, [this](qint64 begin, qint64 end) {
            const watch::StopWatch work;
            answers.push_back(answer(begin, end));
            engine += work.elapsed().work;
        });
        QObject::connect(&model, &TensorModel::rowsCame, table.viewport(), qOverload<>(&QWidget::update));
        window.show();
        QCoreApplication::processEvents();
    }

    void show()
    {
        schema::TensorSummary tensor;
        tensor.count = rows;
        tensor.statistics.numbers = rows * columns;
        model.setTensor(&tensor);
    }

    // Until nothing is left to do. What the engine works does not count.
    watch::Span settle(const watch::StopWatch& since)
    {
        const double before = engine;
        do {
            for (const json::Value& each : std::exchange(answers, {})) model.give(*protocol::readTensorRows(each));
            QCoreApplication::processEvents();
        } while (!answers.empty());
        const watch::Span span = since.elapsed();
        return {span.wall, span.work - (engine - before)};
    }
};

void row(const char* what, double value, double goal)
{
    std::printf("%-52s %10.3f ms  goal %8.1f  %s\n", what, value, goal, watch::verdict(goal, {value, value}));
}

template <class Place>
void scroll(Viewer& viewer, const char* what, Place&& place)
{
    std::vector<watch::Span> spans;
    for (int frame = 0; frame < frames; ++frame) {
        const watch::StopWatch watch;
        viewer.table.verticalScrollBar()->setValue(static_cast<int>(place(frame)));
        spans.push_back(viewer.settle(watch));
    }
    row((std::string(what) + ", a frame, p95").c_str(), watch::quantile(spans, &watch::Span::work, 0.95), 16.6);
    row((std::string(what) + ", the longest frame").c_str(), watch::quantile(spans, &watch::Span::work, 1), 50);
}

void measure()
{
    Viewer viewer;
    const watch::StopWatch watch;
    viewer.show();
    const watch::Span shown = viewer.settle(watch);
    std::printf("%lld rows of %d numbers\n", static_cast<long long>(rows), columns);
    row("from the engine's summary to its first rows", shown.work, 200);
    scroll(viewer, "line by line", [](int frame) { return frame; });
    scroll(viewer, "page by page", [](int frame) { return 5000 + 38LL * frame; });
    scroll(viewer, "anywhere", [](int frame) { return 7919LL * 104'729 * frame % (rows - 50); });
}

}  // namespace

HOPSCOPE_QT_PROGRAM(tensor_bench, [](const QStringList&) { return watch::untilMet(measure); })
