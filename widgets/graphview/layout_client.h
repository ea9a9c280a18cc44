#pragma once

// Small graphs in, positions out: from a cache, from the helper process (Graphviz, killable), or from the layered layout
// in this process where the helper is missing, slow or dead. Never blocks on the helper, never fails.

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTimer>
#include <functional>

#include "graphview/small_layout.h"
#include "protocol/framing.h"

namespace hopscope::graphview {

class LayoutClient : public QObject {
    Q_OBJECT
public:
    using Answer = std::function<void(std::vector<SmallLayout>)>;

    explicit LayoutClient(QObject* parent = nullptr);
    ~LayoutClient() override;

    void setCommand(const QStringList& command);  // empty: no helper
    void setPatience(int milliseconds);           // without an answer for so long, the helper counts as stuck

    // One batch at a time: a new one cancels the last, whose `answer` is never called. Calls back at once where nothing
    // has to be asked.
    void solve(std::vector<SmallGraph> graphs, Answer answer);
    void cancel();  // kills the helper if it is at work

    [[nodiscard]] bool busy() const { return static_cast<bool>(m_answer); }
    [[nodiscard]] int fallbacks() const
    {
        return m_fallbacks;
    }                                       // graphs laid out here that the helper should have done
    [[nodiscard]] qint64 helperId() const;  // process id; 0: not running

private:
    bool startHelper();
    void stopHelper();
    void ask(const SmallGraph& graph, std::size_t index);
    void readAnswers();
    void take(const std::string& message);
    void giveUpOnHelper();
    void put(std::size_t index, SmallLayout layout);
    void finishIfDone();

    QStringList m_command;
    QProcess* m_helper = nullptr;
    protocol::FrameReader m_reader;
    QTimer m_patience;
    QHash<QByteArray, SmallLayout> m_cache;
    std::vector<SmallGraph> m_graphs;
    std::vector<SmallLayout> m_layouts;
    std::vector<bool> m_waiting;
    std::size_t m_missing = 0;
    qint64 m_base = 0;  // number of the batch's first request
    Answer m_answer;
    int m_fallbacks = 0, m_failures = 0;
};

}  // namespace hopscope::graphview
