#pragma once

// Presents findings of the debugger as sentences with links and as a table. The functions are pure; FindingModel is the
// model of the table.

#include <QAbstractTableModel>
#include <QStringList>

#include "models/selection.h"
#include "schema/findings.h"

namespace hopscope::study {

struct FindingLine {
    QStringList cells;
    models::Target target{};  // None: no link
};

struct FindingTable {
    QString title;
    QStringList headers;
    std::vector<FindingLine> lines;
};

// Returns a table of the rows that differ at the first divergence; empty without one.
FindingTable tableOf(const protocol::ModelRecord& model, const schema::DivergenceRecord& found);
FindingTable tableOf(const protocol::ModelRecord& model, const schema::NonFiniteReport& found);  // the sources of NaN
// Returns a table of the contributions of the neighbours, or of the rows of the nodes.
FindingTable tableOf(const protocol::ModelRecord& model, const schema::WatchReport& found);

// These functions return rich text with links to operators; panels/parts.h parses the links.
QString sentencesOf(const protocol::ModelRecord& model, const schema::DivergenceRecord& found);
QString sentencesOf(const protocol::ModelRecord& model, const schema::NonFiniteReport& found);
QString sentencesOf(const protocol::ModelRecord& model, const schema::WatchReport& found);

class FindingModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;
    void setTable(FindingTable table);
    [[nodiscard]] const FindingTable& table() const { return m_table; }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    FindingTable m_table;
};

}  // namespace hopscope::study
