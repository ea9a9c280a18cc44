#pragma once

// Schedules frames: about 30 per second at most, however many requests there are, and fewer if painting would take more
// than a tenth of the time.

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace hopscope::plots {

class FrameClock : public QObject {
    Q_OBJECT
public:
    static constexpr int interval = 33;    // the minimum time between two frames, in milliseconds
    static constexpr double budget = 0.1;  // the share of the time for frames; slower frames come less often

    explicit FrameClock(QObject* parent = nullptr);

    void request();  // asks for a frame soon; several requests result in one frame
    [[nodiscard]] int frames() const { return m_frames; }
    [[nodiscard]] double busySeconds() const { return m_busy; }  // spent in frames so far

signals:
    void frame();

private:
    void run();

    QTimer m_timer;
    QElapsedTimer m_since;
    int m_pause = interval;  // milliseconds from one frame to the next
    int m_frames = 0;
    double m_busy = 0;
};

}  // namespace hopscope::plots
