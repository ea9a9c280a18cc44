#include "graphview/view/view_state.h"

#include "graphview/scene/colours.h"
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

FoldState foldFrom(const json::Value& view)
{
    FoldState fold;
    if (const json::Value* list = view.find("expanded"); list && list->isArray())
        for (const json::Value& path : *list->asArray())
            if (path.asString()) fold.expanded.insert(QString::fromStdString(*path.asString()));
    if (const json::Value* every = view.find("every_operator"); every && every->asBool())
        fold.everyOperator = *every->asBool();
    return fold;
}

std::optional<ColourMode> colourFrom(const json::Value* value)
{
    if (!value || !value->asString()) return std::nullopt;
    for (int i = 0; i < modeCount; ++i)
        if (modeKey(static_cast<ColourMode>(i)).toStdString() == *value->asString()) return static_cast<ColourMode>(i);
    return std::nullopt;
}

}  // namespace

QByteArray writeViewState(const ViewState& state)
{
    json::Value view = json::Value::object();
    json::Value expanded = json::Value::array(), bookmarks = json::Value::array();
    QStringList paths(state.fold.expanded.begin(), state.fold.expanded.end());
    paths.sort();
    for (const QString& path : paths) expanded.push(path.toStdString());
    for (const models::Target& target : state.bookmarks) bookmarks.push(targetValue(target));
    view["expanded"] = std::move(expanded);
    view["every_operator"] = state.fold.everyOperator;
    view["bookmarks"] = std::move(bookmarks);
    if (const auto& camera = state.camera)
        view["camera"] = json::Value(json::Array{camera->scale, camera->offset.x(), camera->offset.y()});
    if (state.colour) view["colour"] = modeKey(*state.colour).toStdString();
    return QByteArray::fromStdString(json::write(view));
}

std::optional<ViewState> readViewState(const QByteArray& text)
{
    const auto view = json::parse(text.toStdString(), "view");
    if (!view) return std::nullopt;
    ViewState state{.fold = foldFrom(*view),
                    .bookmarks = {},
                    .camera = cameraFrom(view->find("camera")),
                    .colour = colourFrom(view->find("colour"))};
    if (const json::Value* list = view->find("bookmarks"); list && list->isArray())
        for (const json::Value& item : *list->asArray()) state.bookmarks << targetFrom(item);
    return state;
}

}  // namespace hopscope::graphview
