#pragma once

#include <QObject>
#include <QTimer>
#include <string>
#include <utility>
#include <vector>

#include "support/stop_watch.h"

namespace hopscope::watch {

// How long the event loop stood still: a timer that wants to fire every few milliseconds, and when it really does.
class HeartBeat : public QObject {
public:
    HeartBeat()
    {
        connect(&m_timer, &QTimer::timeout, this, [this] {
            const Span gap = m_watch.elapsed();
            m_stalls.push_back({std::max(0.0, gap.wall - period), gap.work});
            m_watch.start();
        });
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.start(period);
    }

    std::vector<Span> take() { return std::exchange(m_stalls, {}); }  // since the last time

private:
    static constexpr int period = 4;
    QTimer m_timer;
    StopWatch m_watch;
    std::vector<Span> m_stalls;
};

inline void stallRows(const std::string& what, const std::vector<Span>& stalls)
{
    row(what + ", stall p99", 50, stalls, 0.99);
    row(what + ", longest stall", 100, stalls, 1);
}

}  // namespace hopscope::watch
