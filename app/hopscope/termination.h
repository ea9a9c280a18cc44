#pragma once

// SIGTERM, SIGINT and SIGHUP: the signals that end a program from outside, such as a logout or Ctrl+C in its terminal.

#include <QObject>

namespace hopscope::window {

class Termination : public QObject {
    Q_OBJECT
public:
    explicit Termination(QObject* parent = nullptr);  // one per process; afterwards these signals do not end it
    ~Termination() override;

signals:
    void asked(int signal);
};

}  // namespace hopscope::window
