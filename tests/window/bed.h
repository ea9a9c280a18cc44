#pragma once

// A window under test, with the player of recorded answers (jobs/player.py) or the engine of the build, in its own folders.

#include <QApplication>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "graphview/view/graph_view.h"
#include "main_window.h"

namespace hopscope::bed {

// Fails the running test on every warning of Qt's, but for remarks of the platform plug-in. Installed by Bed.
void failOnWarnings();

window::WindowSetup playedSetup();  // recorded answers; their models are chain3.pt and the like
window::WindowSetup realSetup();    // hopscope-engine beside the test programs

struct Bed {
    explicit Bed(window::WindowSetup setup = playedSetup(), bool recovery = false);

    // Opens it and waits until it is laid out, planned and compared.
    bool open(const QString& model, const QStringList& data = {"graph.safetensors"});
    bool setBatches(bool gpu = false);  // as player.h
    bool run();                         // to the end

    QTemporaryDir folder;
    std::unique_ptr<window::MainWindow> window;
};

// True once `condition` holds; false after `milliseconds` of an event loop without.
bool waitFor(const std::function<bool()>& condition, int milliseconds = 60'000);

template <class T>
T* child(QObject& parent, const char* name)
{
    return parent.findChild<T*>(QLatin1String(name));
}

// A window or dialog that is visible; null: none of this name.
template <class T>
T* topLevel(const char* name)
{
    for (QWidget* widget : QApplication::topLevelWidgets())
        if (widget->objectName() == QLatin1String(name) && widget->isVisible()) return qobject_cast<T*>(widget);
    return nullptr;
}

inline graphview::GraphView& view(Bed& bed) { return *bed.window->graph().findChild<graphview::GraphView*>(); }

// The least widths of what stands in the window, for when it is too wide.
QString leastWidths(window::MainWindow& window);
// Of the values that the document's plan stores, without outputs.
QStringList storedIds(const models::Document& document);

QString sample(const QString& name);  // "karate/gcn.pt" with its folder

}  // namespace hopscope::bed
