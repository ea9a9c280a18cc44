#pragma once

// Handles SIGTERM, SIGINT and SIGHUP, the signals that end a program from outside, for example at a logout or by Ctrl+C
// in its terminal.

#include <QObject>

namespace hopscope::window {

class Termination : public QObject {
    Q_OBJECT
public:
    explicit Termination(QObject* parent = nullptr);  // at most one; these signals no longer end the process
    ~Termination() override;

signals:
    void asked(int signal);
};

}  // namespace hopscope::window
