#pragma once

// The selected target and the one under the pointer, with a history; shared by graph, tables, plots and panels.

#include <QObject>
#include <QString>
#include <QVector>

#include "protocol/model.h"

namespace hopscope::models {

struct Target {
    enum class Kind { None, Op, Value, Module, Stage };
    Kind kind = Kind::None;
    int index = -1;  // of the operator or the value; the number of the stage
    QString module;  // Module: its path
    bool operator==(const Target&) const = default;

    static Target op(protocol::OpId id) { return {.kind = Kind::Op, .index = id.index, .module = {}}; }
    static Target value(protocol::ValueId id) { return {.kind = Kind::Value, .index = id.index, .module = {}}; }
    static Target stage(protocol::StageId stage) { return {.kind = Kind::Stage, .index = stage.number, .module = {}}; }
    static Target moduleAt(QString path) { return {.kind = Kind::Module, .index = -1, .module = std::move(path)}; }

    // These functions return none for targets of other kinds.
    [[nodiscard]] protocol::OpId opId() const { return kind == Kind::Op ? protocol::OpId(index) : protocol::OpId(); }
    [[nodiscard]] protocol::ValueId valueId() const
    {
        return kind == Kind::Value ? protocol::ValueId(index) : protocol::ValueId();
    }
    [[nodiscard]] protocol::StageId stageId() const
    {
        return kind == Kind::Stage ? protocol::StageId(index) : protocol::StageId();
    }
};

class Selection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    [[nodiscard]] const Target& current() const { return m_current; }
    [[nodiscard]] const Target& hovered() const { return m_hovered; }
    [[nodiscard]] bool canGoBack() const { return m_position > 0; }
    [[nodiscard]] bool canGoForward() const { return m_position + 1 < m_history.size(); }

    void select(const Target& target);  // adds it to the history, unless it is the current target
    void hover(const Target& target);
    void back();
    void forward();
    void clear();  // for another model; also clears the history

signals:
    void changed(const hopscope::models::Target& target);
    void hoverChanged(const hopscope::models::Target& target);
    void revealRequested(const hopscope::models::Target& target);  // to scroll the graph to it

public:
    void reveal(const Target& target);  // selects it, and asks the graph to show it

private:
    Target m_current, m_hovered;
    QVector<Target> m_history;
    int m_position = -1;
};

}  // namespace hopscope::models
