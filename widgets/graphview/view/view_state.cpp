#include "graphview/view/graph_controller.h"
#include "json/json.h"

namespace hopscope::graphview {

namespace {

constexpr const char* kindNames[] = {"none", "op", "value", "module", "stage"};

json::Value targetValue(const models::Target& target)
{
    json::Value value = json::Value::object();
    value["kind"] = kindNames[static_cast<int>(target.kind)];
    value["index"] = target.index;
    value["module"] = target.module.toStdString();
    return value;
}

double number(const json::Value& value)
{
    if (const auto* whole = value.asInt()) return static_cast<double>(*whole);
    const double* real = value.asDouble();
    return real ? *real : 0;
}

models::Target targetFrom(const json::Value& value)
{
    models::Target target;
    const json::Value* kind = value.find("kind");
    const json::Value* index = value.find("index");
    const json::Value* module = value.find("module");
    if (!kind || !kind->asString() || !index || !index->asInt() || !module || !module->asString()) return target;
    for (int i = 0; i < 5; ++i)
        if (*kind->asString() == kindNames[i]) target.kind = static_cast<models::Target::Kind>(i);
    target.index = static_cast<int>(*index->asInt());
    target.module = QString::fromStdString(*module->asString());
    return target;
}

std::optional<Camera> cameraFrom(const json::Value* value)
{
    if (!value || !value->isArray() || value->size() != 3) return std::nullopt;
    const json::Array& items = *value->asArray();
    const double scale = number(items[0]);
    if (!(scale >= minScale && scale <= maxScale)) return std::nullopt;
    return Camera{scale, {number(items[1]), number(items[2])}};
}

}  // namespace

QByteArray GraphController::saveView() const
{
    json::Value view = json::Value::object();
    json::Value expanded = json::Value::array(), bookmarks = json::Value::array();
    QStringList paths(m_maker.state().expanded.begin(), m_maker.state().expanded.end());
    paths.sort();
    for (const QString& path : paths) expanded.push(path.toStdString());
    for (const models::Target& target : m_bookmarks) bookmarks.push(targetValue(target));
    const Camera& camera = m_view->camera();
    view["expanded"] = std::move(expanded);
    view["every_operator"] = m_maker.state().everyOperator;
    view["bookmarks"] = std::move(bookmarks);
    view["camera"] = json::Value(json::Array{camera.scale, camera.offset.x(), camera.offset.y()});
    view["colour"] = modeKey(m_mode).toStdString();
    return QByteArray::fromStdString(json::write(view));
}

void GraphController::restoreView(const QByteArray& state)
{
    const auto view = json::parse(state.toStdString(), "view");
    if (!view || !m_maker.model()) return;
    FoldState fold;
    if (const json::Value* list = view->find("expanded"); list && list->isArray())
        for (const json::Value& path : *list->asArray())
            if (path.asString()) fold.expanded.insert(QString::fromStdString(*path.asString()));
    if (const json::Value* every = view->find("every_operator"); every && every->asBool())
        fold.everyOperator = *every->asBool();
    m_bookmarks.clear();
    if (const json::Value* list = view->find("bookmarks"); list && list->isArray())
        for (const json::Value& item : *list->asArray()) m_bookmarks << targetFrom(item);
    markBookmarks();
    if (const json::Value* colour = view->find("colour"); colour && colour->asString())
        for (int i = 0; i < modeCount; ++i)
            if (modeKey(static_cast<ColourMode>(i)).toStdString() == *colour->asString() &&
                m_modeActions[i]->isEnabled())
                setColourMode(static_cast<ColourMode>(i));
    m_cameraNext = cameraFrom(view->find("camera"));
    m_fitNext = !m_cameraNext;
    m_everyOperator->setChecked(fold.everyOperator);
    m_maker.setFold(std::move(fold));
}

}  // namespace hopscope::graphview
