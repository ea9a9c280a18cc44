#include "manual/pages.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>

static void initResources() { Q_INIT_RESOURCE(manual); }

namespace hopscope::manual {

namespace {

const QString root = QStringLiteral(":/manual/");

QString read(const QString& path)
{
    initResources();
    QFile file(root + path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

// Sections without pages, such as those for developers, are left out; one with a single page is this page.
QVector<Entry> withoutEmptySections(const QVector<Entry>& all)
{
    QVector<Entry> kept;
    for (qsizetype i = all.size(); i-- > 0;) {
        const bool filled = !kept.isEmpty() && kept.first().level > all[i].level;
        const bool single = filled && (kept.size() == 1 || kept[1].level <= all[i].level);
        if (single && all[i].page.isEmpty()) kept.first().level = all[i].level;
        else if (filled || !all[i].page.isEmpty()) kept.prepend(all[i]);
    }
    return kept;
}

QVector<Entry> readContents()
{
    static const QRegularExpression line(QStringLiteral("^( *)- (?:([^:]+): ?)?(\\S+\\.md)?$"));
    QVector<Entry> all;
    bool inside = false;
    for (const QString& text : read(QStringLiteral("mkdocs.yml")).split(u'\n')) {
        if (text == u"nav:") inside = true;
        const auto found = line.match(text);
        if (!inside || !found.hasMatch()) continue;
        const QString page = found.captured(3);
        if (!page.isEmpty() && !exists(page)) continue;
        const QString named = found.captured(2).isEmpty() ? title(page) : found.captured(2);
        all.append({.title = named, .page = page, .level = static_cast<int>(found.capturedLength(1)) / 4});
    }
    return withoutEmptySections(all);
}

QStringList headings(const QString& text)
{
    static const QRegularExpression fence(QStringLiteral("^```.*?^```$"),
                                          QRegularExpression::MultilineOption |
                                              QRegularExpression::DotMatchesEverythingOption);
    static const QRegularExpression heading(QStringLiteral("^#+ (.*)$"), QRegularExpression::MultilineOption);
    QStringList found;
    auto at = heading.globalMatch(QString(text).remove(fence));
    while (at.hasNext()) found << at.next().captured(1);
    return found;
}

// A path of the checkout ("docs/faq.md", "SECURITY.md") as the name of a page.
QString pageAt(const QString& path)
{
    if (path.startsWith(u"docs/")) return path.mid(5);
    return QStringLiteral("project/") + path;
}

QString pathOf(const QString& page)
{
    return page.startsWith(u"project/") ? page.mid(8) : QStringLiteral("docs/") + page;
}

QString beside(const QString& page, const QString& relative)
{
    return QDir::cleanPath(QStringLiteral("/") + pathOf(page).section(u'/', 0, -2) + u'/' + relative).mid(1);
}

}  // namespace

const QVector<Entry>& contents()
{
    static const QVector<Entry> all = readContents();
    return all;
}

bool exists(const QString& page)
{
    initResources();
    return page.endsWith(u".md") && QFile::exists(root + page);
}

// A line break is a character: QTextDocument takes <br> for an element that is never closed, and drops the rest of the page.
QString markdown(const QString& page)
{
    return exists(page) ? read(page).replace(QStringLiteral("<br>"), QString(QChar(QChar::LineSeparator))) : QString();
}

QString title(const QString& page) { return headings(markdown(page)).value(0); }

QString words(const QString& page)
{
    static const QRegularExpression targets(QStringLiteral("\\]\\([^)\\s]*\\)")), marks(QStringLiteral("[`*|#\\[\\]]"));
    return markdown(page).remove(targets).remove(marks).simplified();
}

QString anchorOf(const QString& heading)
{
    static const QRegularExpression other(QStringLiteral("[^\\w\\- ]"), QRegularExpression::UseUnicodePropertiesOption);
    return QString(heading).toLower().remove(other).trimmed().replace(u' ', u'-');
}

QStringList anchors(const QString& page)
{
    QStringList found;
    for (const QString& heading : headings(markdown(page))) found << anchorOf(heading);
    return found;
}

std::optional<Place> resolved(const QString& page, const QString& link)
{
    static const QRegularExpression scheme(QStringLiteral("^\\w+:"));
    if (scheme.match(link).hasMatch()) return std::nullopt;
    const QString target = link.section(u'#', 0, 0), heading = link.section(u'#', 1);
    const Place place{target.isEmpty() ? page : pageAt(beside(page, target)), heading};
    return exists(place.page) ? std::optional(place) : std::nullopt;
}

QString pictureFile(const QString& page, const QString& link, bool dark)
{
    const QString file = root + pageAt(beside(page, link));
    const QString other = QString(file).replace(QStringLiteral("-light."), QStringLiteral("-dark."));
    return dark && QFile::exists(other) ? other : file;
}

}  // namespace hopscope::manual
