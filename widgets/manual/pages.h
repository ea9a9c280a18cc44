#pragma once

// The pages of the documentation, compiled into the program: those below docs/ without the ones for developers. Pages are named by
// their paths below docs/, as in mkdocs.yml ("start/window.md").

#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

namespace hopscope::manual {

struct Place {
    QString page, heading;  // "start/window.md", "choosing-cuts"; no heading: the beginning
    bool operator==(const Place&) const = default;
};

// A line of the table of contents, in the order of mkdocs.yml.
struct Entry {
    QString title, page;  // no page: a section
    int level = 0;        // of nested sections
};

const QVector<Entry>& contents();
bool exists(const QString& page);
QString markdown(const QString& page);  // empty if there is no such page
QString title(const QString& page);     // its first heading
// The words of a page in one line, without marks and targets of links: for searches.
QString words(const QString& page);

// The anchor that GitHub gives to a heading: "Choosing cuts" is "choosing-cuts".
QString anchorOf(const QString& heading);
QStringList anchors(const QString& page);

// The place to which a link of a page leads; nullopt if it leads out of the manual.
std::optional<Place> resolved(const QString& page, const QString& link);
// The file of a picture that a page refers to: ":/manual/images/window-light.png", or its dark counterpart if there is one.
QString pictureFile(const QString& page, const QString& link, bool dark);

}  // namespace hopscope::manual
