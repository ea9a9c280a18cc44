#include "settings.h"

#include <QSettings>

namespace hopscope::window {

namespace {

const char* const modeNames[] = {"auto", "light", "dark"};

style::Mode modeOf(const QString& name)
{
    for (int i = 0; i < 3; ++i)
        if (name == QLatin1String(modeNames[i])) return static_cast<style::Mode>(i);
    return style::Mode::Auto;
}

QVector<RecentFile> loadRecent(QSettings& store)
{
    QVector<RecentFile> recent;
    const int count = store.beginReadArray(QStringLiteral("recent"));
    for (int i = 0; i < std::min(count, recentLimit); ++i) {
        store.setArrayIndex(i);
        recent.append({.file = store.value(QStringLiteral("file")).toString(),
                       .data = store.value(QStringLiteral("data")).toStringList(),
                       .roles = store.value(QStringLiteral("roles")).toStringList()});
    }
    store.endArray();
    return recent;
}

void saveRecent(QSettings& store, const QVector<RecentFile>& recent)
{
    store.beginWriteArray(QStringLiteral("recent"), static_cast<int>(recent.size()));
    for (int i = 0; i < recent.size(); ++i) {
        store.setArrayIndex(i);
        store.setValue(QStringLiteral("file"), recent[i].file);
        store.setValue(QStringLiteral("data"), recent[i].data);
        store.setValue(QStringLiteral("roles"), recent[i].roles);
    }
    store.endArray();
}

}  // namespace

QVector<RecentFile> withRecent(QVector<RecentFile> recent, const RecentFile& entry)
{
    recent.removeIf([&](const RecentFile& other) { return other.file == entry.file; });
    recent.prepend(entry);
    if (recent.size() > recentLimit) recent.resize(recentLimit);
    return recent;
}

WindowSettings loadSettings()
{
    QSettings store;
    WindowSettings settings;
    settings.theme = modeOf(store.value(QStringLiteral("theme")).toString());
    settings.reducedMotion = store.value(QStringLiteral("reducedMotion")).toBool();
    settings.recent = loadRecent(store);
    settings.geometry = store.value(QStringLiteral("geometry")).toByteArray();
    settings.perspective = store.value(QStringLiteral("perspective"), settings.perspective).toString();
    settings.folder = store.value(QStringLiteral("folder")).toString();
    store.beginGroup(QStringLiteral("layouts"));
    for (const QString& name : store.childKeys()) settings.layouts[name] = store.value(name).toByteArray();
    store.endGroup();
    return settings;
}

void saveSettings(const WindowSettings& settings)
{
    QSettings store;
    store.setValue(QStringLiteral("theme"), QLatin1String(modeNames[static_cast<int>(settings.theme)]));
    store.setValue(QStringLiteral("reducedMotion"), settings.reducedMotion);
    saveRecent(store, settings.recent);
    store.setValue(QStringLiteral("geometry"), settings.geometry);
    store.setValue(QStringLiteral("perspective"), settings.perspective);
    store.setValue(QStringLiteral("folder"), settings.folder);
    store.beginGroup(QStringLiteral("layouts"));
    store.remove(QString());
    for (auto it = settings.layouts.begin(); it != settings.layouts.end(); ++it) store.setValue(it.key(), it.value());
    store.endGroup();
}

}  // namespace hopscope::window
