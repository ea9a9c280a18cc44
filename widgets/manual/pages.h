#pragma once

// Provides the pages of the documentation, which are compiled into the program: those below docs/ except the ones for
// developers. Pages are named by their paths below docs/, as in mkdocs.yml ("start/window.md").

#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

namespace hopscope::manual {

// A position in the manual.
struct Place {
    QString page, heading;  // "start/window.md", "choosing-cuts"; no heading: the beginning
    bool operator==(const Place&) const = default;
};

// An entry of the table of contents, in the order of mkdocs.yml.
struct Entry {
    QString title, page;  // no page: a section
    int level = 0;        // the nesting level
};

const QVector<Entry>& contents();
bool exists(const QString& page);
QString markdown(const QString& page);  // empty if there is no such page
QString title(const QString& page);     // its first heading
// Returns the words of a page in one line, without markup and link targets, for searches.
QString words(const QString& page);

// Returns the anchor that GitHub gives to a heading: "choosing-cuts" for "Choosing cuts".
QString anchorOf(const QString& heading);
QStringList anchors(const QString& page);

// Returns the position that a link of a page leads to; nullopt if it leads out of the manual.
std::optional<Place> resolved(const QString& page, const QString& link);
// Returns the file of a picture on a page: ":/manual/images/window-light.png", or its dark counterpart if there is one.
QString pictureFile(const QString& page, const QString& link, bool dark);

}  // namespace hopscope::manual
