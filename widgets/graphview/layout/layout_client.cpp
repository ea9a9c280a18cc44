#include "graphview/layout/layout_client.h"

#include "models/runner.h"
#include "json/json.h"

namespace hopscope::graphview {

namespace {

constexpr int defaultPatience = 1500;
constexpr int maxFailures = 3;  // a helper that keeps dying is not started again

}  // namespace

LayoutClient::LayoutClient(QObject* parent) : QObject(parent)
{
    m_worker.setMaxThreadCount(1);
    m_patience.setSingleShot(true);
    m_patience.setInterval(defaultPatience);
    connect(&m_patience, &QTimer::timeout, this, &LayoutClient::giveUpOnHelper);
}

LayoutClient::~LayoutClient()
{
    m_stop.request_stop();
    m_answer = nullptr;
    for (QProcess* helper :
         findChildren<QProcess*>(Qt::FindDirectChildrenOnly)) {  // those that were stopped before too
        helper->disconnect();
        helper->kill();
        helper->waitForFinished(500);
    }
}

void LayoutClient::setCommand(const QStringList& command)
{
    cancel();
    stopHelper();
    m_command = command;
    m_failures = 0;
}

void LayoutClient::setPatience(int milliseconds) { m_patience.setInterval(milliseconds); }

qint64 LayoutClient::helperId() const { return m_helper ? m_helper->processId() : 0; }

bool LayoutClient::startHelper()
{
    if (m_helper && m_helper->state() != QProcess::NotRunning) return true;
    if (m_command.isEmpty() || m_failures >= maxFailures) return false;
    stopHelper();
    m_reader = {};
    m_helper = new QProcess(this);
    m_helper->setObjectName(QStringLiteral("layoutHelper"));
    connect(m_helper, &QProcess::readyReadStandardOutput, this, &LayoutClient::readAnswers);
    connect(m_helper, &QProcess::errorOccurred, this, &LayoutClient::giveUpOnHelper);
    connect(m_helper, &QProcess::finished, this, &LayoutClient::giveUpOnHelper);
    m_helper->setStandardErrorFile(QProcess::nullDevice());
    m_helper->start(m_command.front(), m_command.mid(1));
    return m_helper != nullptr;  // a missing program may have been reported already
}

void LayoutClient::stopHelper()
{
    if (!m_helper) return;
    QProcess* helper = std::exchange(m_helper, nullptr);
    helper->disconnect(this);
    helper->kill();
    // Reaped by the event loop; the destructor of QProcess would wait for it.
    if (helper->state() == QProcess::NotRunning) helper->deleteLater();
    else connect(helper, &QProcess::finished, helper, &QObject::deleteLater);
}

void LayoutClient::cancel()
{
    m_patience.stop();
    m_stop.request_stop();
    ++m_generation;
    if (busy() && m_asked) stopHelper();
    m_asked = false;
    m_answer = nullptr;
    m_base += static_cast<qint64>(m_batch.graphs.size());
    m_batch = {};
}

void LayoutClient::solve(std::vector<SmallGraph> graphs, Answer answer)
{
    cancel();
    m_stop = {};
    m_answer = std::move(answer);
    models::runAside(
        m_worker, this,
        [graphs = std::move(graphs), base = m_base, cache = m_cache, stop = m_stop.get_token()]() mutable {
            return prepareBatch(std::move(graphs), base, *cache, stop);
        },
        [this, generation = m_generation](LayoutBatch batch) {
            if (generation == m_generation) begin(std::move(batch));
        });
}

void LayoutClient::begin(LayoutBatch batch)
{
    m_batch = std::move(batch);
    if (m_batch.missing == 0) return finishIfDone();
    if (!startHelper()) return layOutRest();
    m_asked = true;
    m_helper->write(m_batch.requests.data(), static_cast<qint64>(m_batch.requests.size()));
    m_batch.requests.clear();
    m_patience.start();
}

void LayoutClient::readAnswers()
{
    const QByteArray bytes = m_helper->readAllStandardOutput();
    m_reader.append(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    if (m_asked) m_patience.start();
    for (;;) {
        const auto message = m_reader.next();
        if (!message) return giveUpOnHelper();
        if (!*message) break;
        take(**message);
    }
    finishIfDone();
}

void LayoutClient::take(const std::string& message)
{
    const auto answer = json::parse(message, "layout");
    const json::Value* id = answer ? answer->find("id") : nullptr;
    if (!id || !id->asInt()) return;
    const qint64 index = *id->asInt() - m_base;
    if (index < 0 || index >= static_cast<qint64>(m_batch.graphs.size()) || !m_batch.waiting[index]) return;
    const SmallGraph& graph = m_batch.graphs[index];
    auto layout = layoutFrom(*answer);
    const bool good = layout && layout->centres.size() == graph.sizes.size();
    if (!good) ++m_fallbacks;
    m_batch.layouts[index] = withHeights(graph, good ? std::move(*layout) : layeredLayout(graph));
    m_batch.waiting[index] = false;
    --m_batch.missing;
    m_cache->insert(contentHash(graph), m_batch.layouts[index]);
}

// Unanswered graphs are laid out in this process; the one that blocked the helper is then cached and not sent again.
void LayoutClient::giveUpOnHelper()
{
    m_patience.stop();
    ++m_failures;
    stopHelper();
    if (!std::exchange(m_asked, false)) return;
    m_fallbacks += static_cast<int>(m_batch.missing);
    layOutRest();
}

void LayoutClient::layOutRest()
{
    models::runAside(
        m_worker, this,
        [batch = std::move(m_batch), cache = m_cache, stop = m_stop.get_token()]() mutable {
            finishBatch(batch, *cache, stop);
            return std::move(batch);
        },
        [this, generation = m_generation](LayoutBatch batch) {
            if (generation != m_generation) return;
            m_batch = std::move(batch);
            finishIfDone();
        });
}

void LayoutClient::finishIfDone()
{
    if (!m_answer || m_batch.missing > 0) return;
    m_patience.stop();
    if (std::exchange(m_asked, false)) m_failures = 0;
    const Answer answer = std::exchange(m_answer, nullptr);
    m_base += static_cast<qint64>(m_batch.graphs.size());
    LayoutBatch batch = std::exchange(m_batch, {});
    followTwins(batch);
    answer(std::move(batch.layouts));
}

}  // namespace hopscope::graphview
