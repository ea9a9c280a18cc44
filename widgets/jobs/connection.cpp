#include "jobs/connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "models/runner.h"

namespace hopscope::jobs {

namespace {

constexpr int errorTail = 4096;                             // bytes of standard error that are kept
constexpr std::size_t unreadLimit = std::size_t{64} << 20;  // more than this in flight: the engine sends too much
constexpr int goodbye = 2000;                               // milliseconds to exit, which may take 700 (base/ending.h)
constexpr int wrongUse = 2;                                 // exit code: the same command would fail again

QString lastLines(const QByteArray& text, int count)
{
    QStringList lines = QString::fromUtf8(text).split(u'\n', Qt::SkipEmptyParts);
    while (lines.size() > count) lines.removeFirst();
    return lines.join(u'\n').trimmed();
}

QString signalName(int number)
{
    const char* name = sigabbrev_np(number);
    return name ? QStringLiteral("SIG%1").arg(QLatin1String(name)) : QString::number(number);
}

// Called in the child: an answer of megabytes is sent in a few writes instead of a hundred.
void widenOutput()
{
#ifdef F_SETPIPE_SZ
    constexpr int pipeBytes = 1 << 20;
    ::fcntl(STDOUT_FILENO, F_SETPIPE_SZ, pipeBytes);
#endif
}

}  // namespace

Connection::Connection(const QStringList& command, QObject* parent) : QObject(parent)
{
    m_reader.setMaxThreadCount(1);
    m_writer.setMaxThreadCount(1);
    setupProcess(command);
}

Connection::~Connection()
{
    m_process.disconnect(this);
    m_reader.waitForDone();
    m_writer.waitForDone();
    m_process.closeWriteChannel();
    if (m_process.waitForFinished(goodbye)) return;
    m_process.kill();
    m_process.waitForFinished();
}

void Connection::setupProcess(const QStringList& command)
{
    connect(&m_process, &QProcess::started, this, &Connection::started);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &Connection::readOutput);
    connect(&m_process, &QProcess::readyReadStandardError, this, &Connection::readErrors);
    connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        readOutput();
        readErrors();
        finish(exitReason(code, status), status == QProcess::CrashExit || code != wrongUse);
    });
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            finish(tr("the engine could not be started: %1").arg(m_process.errorString()), false);
    });
    m_process.setChildProcessModifier([] { widenOutput(); });
    m_process.setProgram(command.value(0));
    m_process.setArguments(command.mid(1));
    // Deferred, so that the creator of the connection can connect to its signals first.
    QMetaObject::invokeMethod(
        this, [this] { m_process.start(); }, Qt::QueuedConnection);
}

void Connection::send(protocol::Message message)
{
    models::runAside(
        m_writer, this,
        [message = std::move(message)]() mutable {
            return protocol::frame(protocol::writeMessage(std::move(message)));
        },
        [this](const std::string& bytes) {
            if (m_process.state() == QProcess::Running)
                m_process.write(bytes.data(), static_cast<qint64>(bytes.size()));
        });
}

void Connection::kill(const QString& reason)
{
    if (m_reason.isEmpty()) m_reason = reason;
    m_process.kill();
}

void Connection::readOutput()
{
    const QByteArray bytes = m_process.readAllStandardOutput();
    if (m_broken || bytes.isEmpty()) return;
    m_frames.append({bytes.data(), static_cast<std::size_t>(bytes.size())});
    while (!m_broken) {
        auto next = m_frames.next();
        if (!next) return fail(QString::fromStdString(next.error().message));
        if (!*next) return;
        parse(std::move(**next));
    }
}

void Connection::readErrors()
{
    m_errors += m_process.readAllStandardError();
    if (m_errors.size() > errorTail) m_errors = m_errors.last(errorTail);
}

void Connection::parse(std::string text)
{
    const std::size_t size = text.size();
    m_unreadBytes += size;
    if (m_unreadBytes > unreadLimit) return fail(tr("it sent data faster than the window could read them"));
    models::runAside(
        m_reader, this, [text = std::move(text)] { return protocol::readMessage(text); },
        [this, size](base::Result<protocol::Message> message) {
            m_unreadBytes -= size;
            deliver(std::move(message));
        });
}

void Connection::deliver(base::Result<protocol::Message> message)
{
    if (m_broken) return;
    if (!message) return fail(QString::fromStdString(message.error().message));
    emit received(std::make_shared<protocol::Message>(std::move(*message)));
}

void Connection::fail(const QString& reason)
{
    m_broken = true;
    kill(tr("the engine violated the protocol and was stopped: %1").arg(reason));
}

void Connection::finish(const QString& reason, bool startable)
{
    if (m_ended) return;
    m_ended = true;
    // Queued after all pending reads.
    models::runAside(
        m_reader, this, [] { return 0; }, [this, reason, startable](int) { emit ended(reason, startable); });
}

QString Connection::exitReason(int code, QProcess::ExitStatus status) const
{
    QString reason = m_reason;
    if (reason.isEmpty() && status == QProcess::CrashExit)
        reason = tr("the engine was killed (signal %1, %2)").arg(code).arg(signalName(code));
    else if (reason.isEmpty()) reason = tr("the engine has stopped (exit code %1)").arg(code);
    const QString lines = lastLines(m_errors, 3);
    return lines.isEmpty() ? reason : tr("%1; last output: %2").arg(reason, lines);
}

}  // namespace hopscope::jobs
