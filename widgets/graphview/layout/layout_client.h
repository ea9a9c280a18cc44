#pragma once

// Turns small graphs into positions, which come from a cache, from the helper process (Graphviz, killable) or, where
// the helper is missing, slow or dead, from the layered layout on a worker thread. Never blocks on the helper and never
// fails.

#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QThreadPool>
#include <QTimer>
#include <functional>
#include <memory>

#include "graphview/layout/layout_batch.h"
#include "protocol/framing.h"

namespace hopscope::graphview {

class LayoutClient : public QObject {
    Q_OBJECT
public:
    using Answer = std::function<void(std::vector<SmallLayout>)>;

    explicit LayoutClient(QObject* parent = nullptr);
    ~LayoutClient() override;

    void setCommand(const QStringList& command);  // empty: no helper
    void setPatience(int milliseconds);           // the helper counts as stuck if an answer takes longer

    // Lays out one batch at a time: a new one cancels the previous one, whose `answer` is never called. Never calls
    // back at once.
    void solve(std::vector<SmallGraph> graphs, Answer answer);
    void cancel();  // kills the helper if it is busy

    [[nodiscard]] bool busy() const { return static_cast<bool>(m_answer); }
    [[nodiscard]] int fallbacks() const { return m_fallbacks; }  // graphs laid out here instead of by the helper
    [[nodiscard]] qint64 helperId() const;                       // process id; 0: not running

private:
    bool startHelper();
    void stopHelper();
    void begin(LayoutBatch batch);
    void readAnswers();
    void take(const std::string& message);
    void giveUpOnHelper();
    void layOutRest();
    void finishIfDone();

    QStringList m_command;
    QProcess* m_helper = nullptr;
    protocol::FrameReader m_reader;
    QTimer m_patience;
    std::shared_ptr<LayoutCache> m_cache = std::make_shared<LayoutCache>();
    QThreadPool m_worker;  // one thread
    std::stop_source m_stop;
    LayoutBatch m_batch;
    bool m_asked = false;      // the helper is busy
    qint64 m_base = 0;         // number of the batch's first request
    quint64 m_generation = 0;  // of the batch; answers to an older one are dropped
    Answer m_answer;
    int m_fallbacks = 0, m_failures = 0;
};

}  // namespace hopscope::graphview
