#include "plots/frame_clock.h"

namespace hopscope::plots {

FrameClock::FrameClock(QObject* parent) : QObject(parent)
{
    m_timer.setSingleShot(true);
    m_timer.setTimerType(Qt::PreciseTimer);
    connect(&m_timer, &QTimer::timeout, this, &FrameClock::run);
}

void FrameClock::request()
{
    if (m_timer.isActive()) return;
    const qint64 passed = m_since.isValid() ? m_since.elapsed() : m_pause;
    m_timer.start(static_cast<int>(std::clamp<qint64>(m_pause - passed, 0, m_pause)));
}

void FrameClock::run()
{
    m_since.start();
    emit frame();
    const double seconds = static_cast<double>(m_since.nsecsElapsed()) * 1e-9;
    m_busy += seconds;
    ++m_frames;
    m_pause = std::max(interval, static_cast<int>(seconds * 1000 / budget));
}

}  // namespace hopscope::plots
