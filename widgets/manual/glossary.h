#pragma once

// Provides the terms of docs/reference/glossary.md and their definitions.

#include <QString>
#include <QVector>

namespace hopscope::manual {

struct Term {
    QString name;     // "stored value"
    QString meaning;  // "a value that a stage writes for later stages or as an output"; plain text
};

// Returns all terms, the longest first: the first two cells of the rows of tables, and sentences of the text in which
// a term is set in bold.
const QVector<Term>& glossary();

// Returns the definitions, as rich text, of the terms that occur in a short text, such as a label or a column title.
// There are at most two, in the order of the text; of overlapping terms, the longest counts. Empty if there is none.
QString definitionsIn(const QString& text);

}  // namespace hopscope::manual
