#pragma once

// The persistent settings of the program, as a plain struct. The window takes and returns one; only loadSettings and
// saveSettings know where settings are stored.

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QStringList>
#include <QVector>

#include "style/theme.h"

namespace hopscope::window {

// An entry of the recent files: a model with its data, or a session file.
struct RecentFile {
    QString file;
    QStringList data, roles;
    bool operator==(const RecentFile&) const = default;
};

struct WindowSettings {
    style::Mode theme = style::Mode::Auto;
    bool reducedMotion = false;         // no animations
    QVector<RecentFile> recent;         // newest first
    QByteArray geometry;                // of the window
    QMap<QString, QByteArray> layouts;  // docks by perspective
    QString perspective = QStringLiteral("analyse");
    QString folder;  // where the last file was chosen
    bool operator==(const WindowSettings&) const = default;
};

constexpr int recentLimit = 12;

// Puts `entry` first, without listing any file twice and with at most recentLimit entries.
QVector<RecentFile> withRecent(QVector<RecentFile> recent, const RecentFile& entry);

WindowSettings loadSettings();
void saveSettings(const WindowSettings& settings);

}  // namespace hopscope::window
