#pragma once

// Carries out the requests of the command line in an unattended window: open, run, take pictures, export, exit.

#include <QObject>
#include <QTimer>

#include "command_line.h"
#include "main_window.h"

namespace hopscope::window {

class Automation : public QObject {
    Q_OBJECT
public:
    Automation(MainWindow& window, CommandLine line, QObject* parent = nullptr);

    void start();

signals:
    void done(int exitCode, const QString& problem);  // emitted once, and only if files are to be written

private:
    void tick();
    void modelOpened();
    [[nodiscard]] bool settled() const;
    [[nodiscard]] bool idle() const;
    bool refused();
    [[nodiscard]] QString missing() const;  // the banner's sentence, or that the model or plan is missing
    [[nodiscard]] QString writeFiles();
    void finish(int exitCode, const QString& problem);

    MainWindow& m_window;
    CommandLine m_line;
    QTimer m_ticks;
    int m_quiet = 0;  // consecutive ticks with nothing in progress
    int m_idle = 0, m_ticked = 0;
    bool m_runWanted = false, m_planWanted = false, m_over = false;
};

}  // namespace hopscope::window
