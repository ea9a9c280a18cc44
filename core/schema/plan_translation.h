#pragma once

// Private to schema: converts the parts of a plan between ids and the names in documents.

#include <algorithm>
#include <vector>

#include "plan/plan.h"
#include "schema/names.h"
#include "schema/plan_document.h"

namespace hopscope::schema {

// Converts ids to names, and names to ids. The analysis must have these names.
class Translation {
public:
    explicit Translation(const Names& names) : m_names(names) {}

    template <class T>
    auto operator()(const std::vector<T>& items) const
    {
        std::vector<decltype((*this)(items.front()))> list;
        for (const T& item : items) list.push_back((*this)(item));
        return list;
    }

    TableName operator()(ir::SpaceId id) const { return {m_names.space(id)}; }
    ir::SpaceId operator()(const TableName& name) const { return *m_names.findSpace(name.text); }

    KeyName operator()(ir::KeyId id) const { return {m_names.key(id)}; }
    ir::KeyId operator()(const KeyName& name) const { return *m_names.findKey(name.text); }

    RowsName operator()(const ir::RowClass& rows) const { return {m_names.rows(rows)}; }
    ir::RowClass operator()(const RowsName& name) const { return *m_names.findRows(name.text); }

    PlannedStep operator()(const plan::Step& s) const { return {s.op, (*this)(s.rows)}; }
    plan::Step operator()(const PlannedStep& s) const { return {s.op, (*this)(s.rows)}; }

    PlannedAccess operator()(const plan::Access& a) const { return {a.value, (*this)(a.rows)}; }
    plan::Access operator()(const PlannedAccess& a) const { return {a.value, (*this)(a.rows)}; }

    PlannedFrontier operator()(const plan::FrontierSource& s) const { return sourceOf<PlannedFrontier>(s); }
    plan::FrontierSource operator()(const PlannedFrontier& s) const { return sourceOf<plan::FrontierSource>(s); }

    PlannedLoop operator()(const plan::Loop& loop) const { return loopOf<PlannedLoop>(loop); }
    plan::Loop operator()(const PlannedLoop& loop) const { return loopOf<plan::Loop>(loop); }

    // Lists the operators of all loops together, since they matter most to readers of a document.
    PlannedStage operator()(const plan::Stage& stage) const
    {
        PlannedStage planned{.index = stage.index, .ops = {}, .rowless = stage.rowless, .loops = (*this)(stage.loops)};
        for (const plan::Loop& loop : stage.loops)
            for (const plan::Step& step : loop.steps)
                planned.ops.push_back({.step = (*this)(step), .loop = (*this)(loop.destination)});
        return planned;
    }
    plan::Stage operator()(const PlannedStage& planned) const
    {
        plan::Stage stage{.index = planned.index, .loops = (*this)(planned.loops), .rowless = planned.rowless};
        for (const PlannedOp& op : planned.ops)
            std::ranges::find(stage.loops, (*this)(op.loop), &plan::Loop::destination)
                ->steps.push_back((*this)(op.step));
        return stage;
    }

private:
    template <class To>
    To sourceOf(const auto& from) const
    {
        return {.type = (*this)(from.type),
                .space = (*this)(from.space),
                .owner = (*this)(from.owner),
                .key = (*this)(from.key)};
    }
    template <class To>
    To loopOf(const auto& from) const
    {
        To loop;
        loop.destination = (*this)(from.destination);
        loop.frontier = (*this)(from.frontier);
        loop.reads = (*this)(from.reads);
        loop.writes = (*this)(from.writes);
        loop.reductions = (*this)(from.reductions);
        return loop;
    }

    const Names& m_names;
};

}  // namespace hopscope::schema
