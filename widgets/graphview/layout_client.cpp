#include "graphview/layout_client.h"

#include "json/json.h"

namespace hopscope::graphview {

namespace {

constexpr int defaultPatience = 1500;
constexpr int maxFailures = 3;  // a helper that keeps dying is not started again
constexpr qsizetype maxCached = 20'000;

json::Value pairOf(double a, double b) { return json::Value(json::Array{json::Value(a), json::Value(b)}); }

// Chains stay straight; what skips layers goes around them.
json::Value weightsOf(const SmallGraph& graph)
{
    constexpr int straight = 12;
    const std::vector<int> layers = longestPathLayers(graph);
    json::Value weights = json::Value::array();
    for (const auto& [from, to] : graph.edges) weights.push(layers[to] - layers[from] == 1 ? straight : 1);
    return weights;
}

std::string requestText(qint64 id, const SmallGraph& graph)
{
    json::Value request = json::Value::object();
    json::Value nodes = json::Value::array(), edges = json::Value::array();
    for (const QSizeF& size : graph.sizes) nodes.push(pairOf(size.width(), size.height()));
    for (const auto& [from, to] : graph.edges) edges.push(json::Value(json::Array{json::Value(from), json::Value(to)}));
    request["id"] = id;
    request["nodes"] = std::move(nodes);
    request["edges"] = std::move(edges);
    request["gaps"] = pairOf(nodeGap, rankGap);
    request["weights"] = weightsOf(graph);
    return json::write(request);
}

std::optional<QPointF> pointOf(const json::Value& value)
{
    const auto* items = value.asArray();
    if (!items || items->size() != 2) return std::nullopt;
    const double* x = (*items)[0].asDouble();
    const double* y = (*items)[1].asDouble();
    if (!x || !y) return std::nullopt;
    return QPointF(*x, *y);
}

std::optional<SmallLayout> layoutOf(const json::Value& answer, std::size_t nodes)
{
    const json::Value* centres = answer.find("centres");
    const json::Value* size = answer.find("size");
    if (!centres || !size || centres->size() != nodes || !centres->isArray()) return std::nullopt;
    SmallLayout layout;
    for (const json::Value& item : *centres->asArray()) {
        const auto point = pointOf(item);
        if (!point) return std::nullopt;
        layout.centres.push_back(*point);
    }
    const auto extent = pointOf(*size);
    if (!extent) return std::nullopt;
    layout.size = {extent->x(), extent->y()};
    return layout;
}

}  // namespace

LayoutClient::LayoutClient(QObject* parent) : QObject(parent)
{
    m_patience.setSingleShot(true);
    m_patience.setInterval(defaultPatience);
    connect(&m_patience, &QTimer::timeout, this, &LayoutClient::giveUpOnHelper);
}

LayoutClient::~LayoutClient()
{
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
    const bool atWork = busy() && m_missing > 0;
    m_patience.stop();
    if (atWork) stopHelper();
    m_answer = nullptr;
    m_graphs.clear();
}

void LayoutClient::solve(std::vector<SmallGraph> graphs, Answer answer)
{
    cancel();
    m_base += static_cast<qint64>(m_layouts.size());
    m_graphs = std::move(graphs);
    m_layouts.assign(m_graphs.size(), {});
    m_waiting.assign(m_graphs.size(), false);
    m_missing = 0;
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        if (auto trivial = trivialLayout(m_graphs[i])) m_layouts[i] = std::move(*trivial);
        else if (const auto known = m_cache.constFind(contentHash(m_graphs[i])); known != m_cache.constEnd())
            m_layouts[i] = *known;
        else ask(m_graphs[i], i);
    }
    m_answer = std::move(answer);  // not earlier: a helper that cannot start is reported while the batch is being asked
    finishIfDone();
}

void LayoutClient::ask(const SmallGraph& graph, std::size_t index)
{
    if (!suitsDot(graph) || !startHelper()) {
        m_layouts[index] = layeredLayout(graph);
        m_cache.insert(contentHash(graph), m_layouts[index]);
        return;
    }
    m_waiting[index] = true;
    ++m_missing;
    const std::string message = protocol::frame(requestText(m_base + static_cast<qint64>(index), graph));
    m_helper->write(message.data(), static_cast<qint64>(message.size()));
    m_patience.start();
}

void LayoutClient::readAnswers()
{
    const QByteArray bytes = m_helper->readAllStandardOutput();
    m_reader.append(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    if (m_missing > 0) m_patience.start();
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
    if (index < 0 || index >= static_cast<qint64>(m_graphs.size()) || !m_waiting[index]) return;
    if (auto layout = layoutOf(*answer, m_graphs[index].sizes.size())) return put(index, std::move(*layout));
    ++m_fallbacks;
    put(index, layeredLayout(m_graphs[index]));
}

void LayoutClient::put(std::size_t index, SmallLayout layout)
{
    m_layouts[index] = std::move(layout);
    m_waiting[index] = false;
    --m_missing;
    if (m_cache.size() >= maxCached) m_cache.clear();
    m_cache.insert(contentHash(m_graphs[index]), m_layouts[index]);
}

// What it has not answered is laid out here; what it was stuck on is not asked again, because it is cached.
void LayoutClient::giveUpOnHelper()
{
    m_patience.stop();
    ++m_failures;
    stopHelper();
    for (std::size_t i = 0; i < m_graphs.size() && m_missing > 0; ++i) {
        if (!m_waiting[i]) continue;
        ++m_fallbacks;
        put(i, layeredLayout(m_graphs[i]));
    }
    finishIfDone();
}

void LayoutClient::finishIfDone()
{
    if (!m_answer || m_missing > 0) return;
    m_patience.stop();
    m_failures = 0;
    const Answer answer = std::exchange(m_answer, nullptr);
    m_graphs.clear();
    std::vector<SmallLayout> layouts = m_layouts;
    answer(std::move(layouts));
}

}  // namespace hopscope::graphview
