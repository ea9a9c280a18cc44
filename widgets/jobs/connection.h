#pragma once

// The connection to one engine process, which turns bytes into messages and back. Big messages are processed on worker
// threads, in order. Incoming data is bounded and validated; any violation ends the process with a reason.

#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QThreadPool>

#include "protocol/framing.h"
#include "protocol/rpc.h"

namespace hopscope::jobs {

class Connection : public QObject {
    Q_OBJECT
public:
    explicit Connection(const QStringList& command, QObject* parent = nullptr);
    ~Connection() override;  // closes the process's input, waits briefly, then kills it

    void send(protocol::Message message);
    void kill(const QString& reason);  // `reason` becomes the text of ended()
    [[nodiscard]] qint64 processId() const { return m_process.processId(); }

signals:
    void started();
    // Passes on a message; the receiver may move from it.
    void received(const std::shared_ptr<hopscope::protocol::Message>& message);
    // Emitted once, after the last message: the reason in a sentence, with the last lines of standard error.
    // `startable` is false for a program that cannot be started at all, or whose command line is wrong; it is not
    // restarted.
    void ended(const QString& reason, bool startable);

private:
    void setupProcess(const QStringList& command);
    void readOutput();
    void readErrors();
    void parse(std::string text);
    void deliver(base::Result<protocol::Message> message);
    void fail(const QString& reason);
    void finish(const QString& reason, bool startable);
    [[nodiscard]] QString exitReason(int code, QProcess::ExitStatus status) const;

    QProcess m_process;
    protocol::FrameReader m_frames;
    QThreadPool m_reader, m_writer;  // one thread each, which preserves the order
    QByteArray m_errors;             // the end of standard error
    QString m_reason;                // the reason why it was killed; empty: it was not
    std::size_t m_unreadBytes = 0;   // taken from the process, not yet delivered
    bool m_broken = false, m_ended = false;
};

}  // namespace hopscope::jobs
