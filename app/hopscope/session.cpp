#include "session.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include "protocol/settings.h"
#include "schema/pins.h"
#include "json/json.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::window {

namespace {

constexpr qint64 sizeLimit = 16 << 20;
constexpr std::int64_t formatVersion = 1;

// "NAME=FILE" keeps its name; FILE is made relative or absolute.
template <class Change>
QString changePath(const QString& entry, Change change)
{
    const qsizetype equals = entry.indexOf(u'=');
    const bool named = equals > 0 && !entry.left(equals).contains(u'/');
    return named ? entry.left(equals + 1) + change(entry.mid(equals + 1)) : change(entry);
}

QString relative(const QString& path, const QString& folder)
{
    if (folder.isEmpty() || !QDir::isAbsolutePath(path)) return path;
    const QString inside = QDir(folder).relativeFilePath(path);
    return inside.startsWith(u"..") ? path : inside;
}

QString absolute(const QString& path, const QString& folder)
{
    return folder.isEmpty() || QDir::isAbsolutePath(path) ? path : QDir::cleanPath(QDir(folder).filePath(path));
}

json::Value texts(const QStringList& list)
{
    json::Value value = json::Value::array();
    for (const QString& item : list) value.push(item.toStdString());
    return value;
}

json::Value runsValue(const std::vector<Session::Run>& runs)
{
    json::Value list = json::Value::array();
    for (const Session::Run& run : runs) {
        const auto report = json::parse(run.report.toStdString(), "report.json");
        if (!report) continue;
        json::Value value = json::Value::object();
        value["title"] = run.title.toStdString();
        value["report"] = *report;
        list.push(std::move(value));
    }
    return list;
}

json::Value settingsValue(const models::Settings& settings)
{
    json::Value value = protocol::settingsValue(settings);
    value["pins"] = schema::writePins(settings.pins);
    value["output"] = settings.output.toStdString();
    return value;
}

// In the form of requests, with the name for the user.
json::Value breakpointValue(const models::SavedBreakpoint& saved)
{
    json::Value value = json::Value::object();
    value["place"] = saved.place.toStdString();
    value["name"] = saved.name.toStdString();
    const models::Breakpoint& rest = saved.rest;
    if (rest.condition == models::BreakOn::NotFinite) value["not_finite"] = true;
    if (rest.condition == models::BreakOn::Node) value["node"] = rest.node;
    if (rest.condition == models::BreakOn::OutsideRange)
        value["outside"] = json::Value(std::vector<double>{rest.least, rest.most});
    return value;
}

json::Value breakpointValues(const std::vector<models::SavedBreakpoint>& all)
{
    json::Value list = json::Value::array();
    for (const models::SavedBreakpoint& each : all) list.push(breakpointValue(each));
    return list;
}

QString text(const json::Reader& reader, const char* key)
{
    return QString::fromStdString(reader.get<std::string>(key));
}

QStringList textList(const json::Reader& reader, const char* key)
{
    QStringList list;
    for (const std::string& item : reader.get<std::vector<std::string>>(key)) list.append(QString::fromStdString(item));
    return list;
}

models::Settings settingsFrom(const json::Reader& reader)
{
    models::Settings settings;
    static_cast<base::Settings&>(settings) = protocol::readSettings(reader);
    settings.pins = schema::readPins(reader.child("pins"), schema::valueNamed);
    settings.output = text(reader, "output");
    return settings;
}

models::SavedBreakpoint breakpointFrom(const json::Reader& item)
{
    models::SavedBreakpoint saved{.place = text(item, "place"), .name = text(item, "name"), .rest = {}};
    models::Breakpoint& rest = saved.rest;
    if (item.maybe<bool>("not_finite").value_or(false)) rest.condition = models::BreakOn::NotFinite;
    if (const auto node = item.maybe<std::int64_t>("node")) rest.condition = models::BreakOn::Node, rest.node = *node;
    if (const auto range = item.maybe<std::vector<double>>("outside")) {
        rest.condition = models::BreakOn::OutsideRange;
        if (range->size() == 2) rest.least = range->front(), rest.most = range->back();
        else item.child("outside").refuse("must be two numbers, the least and the largest");
    }
    return saved;
}

Session sessionFrom(const json::Reader& root, const QString& folder)
{
    Session session;
    const auto toAbsolute = [&](const QString& path) { return absolute(path, folder); };
    session.model = toAbsolute(text(root, "model"));
    for (const QString& entry : textList(root, "data")) session.data.append(changePath(entry, toAbsolute));
    session.roles = textList(root, "roles");
    for (const auto& [name, hash] : root.child("hashes").members()) session.hashes[name] = hash.as<std::string>();
    session.settings = settingsFrom(root.child("settings"));
    if (root.has("breakpoints"))
        for (const json::Reader& item : root.items("breakpoints")) session.breakpoints.push_back(breakpointFrom(item));
    session.view = QByteArray::fromBase64(text(root, "view").toLatin1());
    session.perspective = text(root, "perspective");
    if (root.has("origin")) session.origin = text(root, "origin");
    if (root.has("runs"))
        for (const json::Reader& run : root.items("runs"))
            session.runs.push_back(
                {text(run, "title"), QString::fromStdString(json::write(run.child("report").value(), true))});
    return session;
}

}  // namespace

QByteArray writeSession(const Session& session, const QString& folder)
{
    const auto toRelative = [&](const QString& path) { return relative(path, folder); };
    json::Value value = json::Value::object();
    value["format"] = "hopscope-session";
    value["version"] = formatVersion;
    value["model"] = toRelative(session.model).toStdString();
    value["data"] = json::Value::array();
    for (const QString& entry : session.data) value["data"].push(changePath(entry, toRelative).toStdString());
    value["roles"] = texts(session.roles);
    value["hashes"] = json::Value::object();
    for (const auto& [name, hash] : session.hashes) value["hashes"][name] = hash;
    value["settings"] = settingsValue(session.settings);
    if (!session.breakpoints.empty()) value["breakpoints"] = breakpointValues(session.breakpoints);
    value["view"] = session.view.toBase64().toStdString();
    value["perspective"] = session.perspective.toStdString();
    if (!session.runs.empty()) value["runs"] = runsValue(session.runs);
    if (!session.origin.isEmpty()) value["origin"] = session.origin.toStdString();
    return QByteArray::fromStdString(json::write(value, true));
}

base::Result<Session> readSession(const QByteArray& bytes, const QString& file, const QString& folder)
{
    const auto value = json::parse(bytes.toStdString(), file.toStdString());
    if (!value) return base::forward(value);
    const json::Reader root(*value, file.toStdString());
    if (root.get<std::string>("format") != "hopscope-session") root.child("format").refuse("is not hopscope-session");
    if (root.get<std::int64_t>("version") != formatVersion) root.child("version").refuse("has a different version");
    Session session = sessionFrom(root, folder);
    if (!root.ok()) return base::forward(root.status());
    return session;
}

base::Result<Session> loadSession(const QString& name)
{
    QFile file(name);
    const auto problem = [&](const QString& why) {
        return base::fail(base::ErrorCode::Input, QStringLiteral("%1: %2").arg(name, why).toStdString());
    };
    if (!file.open(QIODevice::ReadOnly)) return problem(file.errorString());
    if (file.size() > sizeLimit) return problem(QStringLiteral("larger than 16 MiB"));
    return readSession(file.readAll(), name, QFileInfo(name).absolutePath());
}

base::Status saveSession(const Session& session, const QString& name)
{
    QSaveFile file(name);
    Session kept = session;
    QByteArray bytes = writeSession(kept, QFileInfo(name).absolutePath());
    while (bytes.size() > sizeLimit && !kept.runs.empty()) {  // with many operators: the oldest goes first
        kept.runs.erase(kept.runs.begin());
        bytes = writeSession(kept, QFileInfo(name).absolutePath());
    }
    if (bytes.size() > sizeLimit)
        return base::fail(base::ErrorCode::Input, QStringLiteral("%1: larger than 16 MiB").arg(name).toStdString());
    if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) return {};
    return base::fail(base::ErrorCode::Input, QStringLiteral("%1: %2").arg(name, file.errorString()).toStdString());
}

}  // namespace hopscope::window
