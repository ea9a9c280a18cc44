#include "manual/glossary.h"

#include <QRegularExpression>
#include <algorithm>

#include "manual/pages.h"

namespace hopscope::manual {

namespace {

QString plain(QString text)
{
    static const QRegularExpression reference(QStringLiteral(" ?\\(\\[[^\\]]*\\]\\([^)]*\\)\\)"));
    static const QRegularExpression link(QStringLiteral("\\[([^\\]]*)\\]\\([^)]*\\)"));
    text.remove(reference).replace(link, QStringLiteral("\\1"));
    return text.remove(u'`').remove(u'*').simplified();
}

void addRow(QVector<Term>& terms, const QString& line)
{
    const QStringList cells = line.split(QStringLiteral(" | "));
    const QString names = plain(cells.value(0).mid(1)),
                  meaning = plain(cells.value(1)).remove(QRegularExpression(QStringLiteral(" ?\\|$")));
    const bool header = names == u"term" || names == u"kind" || names == u"strategy" || names.startsWith(u"---");
    if (header || meaning.isEmpty()) return;
    for (const QString& name : names.split(QStringLiteral(", "))) terms.append({name, meaning});
}

// "The **depth** of a value is the number of hops .." defines "depth".
void addSentences(QVector<Term>& terms, const QString& paragraph)
{
    static const QRegularExpression sentence(QStringLiteral("[^.]*\\*\\*([^*]+)\\*\\*[^.]*\\."));
    auto at = sentence.globalMatch(paragraph);
    while (at.hasNext()) {
        const auto found = at.next();
        terms.append({plain(found.captured(1)).toLower(), plain(found.captured(0))});
    }
}

QVector<Term> readGlossary()
{
    QVector<Term> terms;
    QString paragraph;
    for (const QString& line : markdown(QStringLiteral("reference/glossary.md")).split(u'\n')) {
        if (line.startsWith(u"| ")) addRow(terms, line);
        if (!line.isEmpty() && !line.startsWith(u'|') && !line.startsWith(u'#')) paragraph += line + u' ';
        else addSentences(terms, std::exchange(paragraph, {}));
    }
    addSentences(terms, paragraph);
    std::ranges::stable_sort(terms, std::ranges::greater(), [](const Term& term) { return term.name.size(); });
    return terms;
}

QRegularExpression patternOf(const Term& term)
{
    static const QRegularExpression gap(QStringLiteral("[ -]"));
    QString name = term.name;
    if (name.endsWith(u's')) name.chop(1);
    return QRegularExpression(
        QStringLiteral("(?<![\\w-])%1(?:s|es)?(?![\\w-])").arg(name.replace(gap, QStringLiteral("[ -]"))),
        QRegularExpression::CaseInsensitiveOption);
}

struct Found {
    qsizetype begin, end;
    const Term* term;
};

QVector<Found> findIn(const QString& text)
{
    static const auto patterns = [] {
        QVector<QRegularExpression> made;
        for (const Term& term : glossary()) made.append(patternOf(term));
        return made;
    }();
    QVector<Found> all;
    for (qsizetype i = 0; i < patterns.size(); ++i) {
        const auto match = patterns[i].match(text);
        const Found found{match.capturedStart(), match.capturedEnd(), &glossary()[i]};
        const bool within = std::ranges::any_of(
            all, [&](const Found& other) { return found.begin < other.end && other.begin < found.end; });
        if (match.hasMatch() && !within) all.append(found);
    }
    std::ranges::sort(all, {}, &Found::begin);
    return all;
}

}  // namespace

const QVector<Term>& glossary()
{
    static const QVector<Term> terms = readGlossary();
    return terms;
}

QString definitionsIn(const QString& text)
{
    constexpr qsizetype most = 2;
    QString html;
    const QVector<Found> all = findIn(text);
    for (const Found& found : all.first(std::min(most, all.size())))
        html += QStringLiteral("<p><b>%1</b>: %2</p>")
                    .arg(found.term->name.toHtmlEscaped(), found.term->meaning.toHtmlEscaped());
    return html;
}

}  // namespace hopscope::manual
