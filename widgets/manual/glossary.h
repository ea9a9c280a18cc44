#pragma once

// The terms of docs/reference/glossary.md, which is the only place that defines them.

#include <QString>
#include <QVector>

namespace hopscope::manual {

struct Term {
    QString name;     // "stored value"
    QString meaning;  // "a value that a stage writes for later stages or as an output"; plain text
};

// All terms: the first two cells of the rows of tables, and sentences of the text in which a term is set in bold.
const QVector<Term>& glossary();

// The definitions, as rich text, of the terms that occur in a short text, such as a label or the title of a column: at most two, in
// the order of the text; where terms overlap, the longest counts. Empty: there is none.
QString definitionsIn(const QString& text);

}  // namespace hopscope::manual
