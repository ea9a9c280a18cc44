#include "executor/program/strips.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace hopscope::executor {

using ir::RowKind;

bool Families::has(base::Fuse family) const
{
    switch (family) {
    case base::Fuse::Chain: return chain;
    case base::Fuse::Softmax: return softmax;
    case base::Fuse::Several: return several;
    }
    return false;
}

Families Families::of(const std::vector<base::Fuse>& chosen, bool gpu)
{
    const auto has = [&](base::Fuse f) { return std::ranges::find(chosen, f) != chosen.end(); };
    return {.chain = has(base::Fuse::Chain),
            .softmax = has(base::Fuse::Softmax),
            .several = has(base::Fuse::Several),
            .gpu = gpu};
}

namespace {

// The dependencies between steps, by the values that they read on any rows: conservative rather than exact.
class Dependences {
public:
    Dependences(const analysis::Analysis& analysis, const plan::Loop& loop, const std::vector<StepUse>& uses)
    {
        std::map<ir::ValueId, std::vector<int>> makers;
        for (int i = 0; i < static_cast<int>(loop.steps.size()); ++i)
            for (const ir::ValueId v : analysis.program.op(loop.steps[static_cast<std::size_t>(i)].op).outputs)
                makers[v].push_back(i);
        for (const StepUse& use : uses) {
            std::vector<int>& on = m_on.emplace_back();
            for (const analysis::OperandRows& o : use.operands)
                if (const auto it = makers.find(o.value); it != makers.end())
                    on.insert(on.end(), it->second.begin(), it->second.end());
        }
    }

    [[nodiscard]] const std::vector<int>& of(int step) const { return m_on[static_cast<std::size_t>(step)]; }
    [[nodiscard]] int count() const { return static_cast<int>(m_on.size()); }

private:
    std::vector<std::vector<int>> m_on;
};

class Finder {
public:
    explicit Finder(const StripRequest& request)
        : m_request(request),
          m_dependences(request.analysis, request.loop, request.uses)
    {
        for (std::size_t i = 0; i < request.uses.size(); ++i)
            m_acts.push_back(stripAct(request.analysis, request.loop.steps[i], request.uses[i]));
    }

    std::vector<StripRegion> find()
    {
        std::map<std::pair<ir::RowClass, base::DType>, std::vector<int>> aggregations;
        for (int i = 0; i < m_dependences.count(); ++i)
            if (act(i) && act(i)->kind == StripAct::Aggregate)
                aggregations[{act(i)->arguments[0].rows, dtypeOf(i)}].push_back(i);
        for (const auto& [messages, steps] : aggregations) cover(messages.first, messages.second, steps);
        return std::move(m_regions);
    }

private:
    using Steps = std::set<int>;

    const std::optional<StripAct>& act(int step) const { return m_acts[static_cast<std::size_t>(step)]; }
    const plan::Step& step(int i) const { return m_request.loop.steps[static_cast<std::size_t>(i)]; }
    ir::ValueId resultOf(int i) const { return m_request.analysis.program.op(step(i).op).outputs.at(0); }
    base::DType dtypeOf(int i) const { return m_request.analysis.program.value(resultOf(i)).dtype; }

    // Puts as many aggregations as possible into one region, from the first on.
    void cover(const ir::RowClass& messages, base::DType dtype, const std::vector<int>& aggregations)
    {
        for (std::size_t first = 0; first < aggregations.size();) {
            std::size_t last = aggregations.size();
            while (last > first && !accept(messages, dtype,
                                           {aggregations.begin() + static_cast<std::ptrdiff_t>(first),
                                            aggregations.begin() + static_cast<std::ptrdiff_t>(last)}))
                --last;
            first = std::max(last, first + 1);
        }
    }

    bool accept(const ir::RowClass& messages, base::DType dtype, const Steps& aggregations)
    {
        const std::optional<Steps> steps = closure(messages, dtype, aggregations);
        if (!steps || !isConvex(*steps)) return false;
        StripRegion region{
            .family = familyOf(*steps, aggregations), .messages = messages, .steps = {steps->begin(), steps->end()}};
        if (!m_request.families.has(region.family) || !pays(*steps, aggregations)) return false;
        StripPart part = stripPart(m_request, region);
        if (!kernels::setPhases(part.program)) return false;
        if (m_request.families.gpu && !kernels::stripFits(part.program)) return false;
        m_regions.push_back(std::move(region));
        return true;
    }

    base::Fuse familyOf(const Steps& steps, const Steps& aggregations) const
    {
        const bool back = std::ranges::any_of(steps, [&](int i) {
            return act(i)->kind == StripAct::Own &&
                   std::ranges::any_of(m_dependences.of(i), [&](int on) { return steps.contains(on); });
        });
        if (back) return base::Fuse::Softmax;
        return aggregations.size() > 1 ? base::Fuse::Several : base::Fuse::Chain;
    }

    // Whether strips pay off: the segment kernels compute some regions just as fast.
    bool pays(const Steps& steps, const Steps& aggregations) const
    {
        int known = 0, all = 0;
        for (const int a : aggregations) known += m_request.known(a);
        for (const int i : steps) all += act(i)->kind == StripAct::Alias ? 0 : 1;
        return aggregations.size() > 1 || all > known;
    }

    // The aggregations, the steps on edges that only they need, and the steps from one to another. nullopt: one of the
    // latter cannot be computed in strips.
    std::optional<Steps> closure(const ir::RowClass& messages, base::DType dtype, const Steps& aggregations) const
    {
        const std::vector<bool> behind = dependents(aggregations);
        Steps chosen;
        for (int i = m_dependences.count() - 1; i >= 0; --i) {
            if (aggregations.contains(i)) {
                chosen.insert(i);
                continue;
            }
            const int inside = usesWithin(i, chosen);
            if (inside == 0) continue;
            const bool late = behind[static_cast<std::size_t>(i)];
            const bool known = act(i) && act(i)->kind != StripAct::Aggregate && dtypeOf(i) == dtype;
            const bool onEdges = step(i).rows == messages, all = inside == usesOf(i);
            if (known && ((onEdges && all) || (late && step(i).rows.kind == RowKind::Batch))) chosen.insert(i);
            else if (late) return std::nullopt;
        }
        return chosen;
    }

    int usesOf(int i) const
    {
        const auto it = m_request.counts.find({resultOf(i), step(i).rows});
        return it == m_request.counts.end() ? 0 : it->second;
    }

    // The number of uses of step i's result, on its rows, as an operand of the chosen steps.
    int usesWithin(int i, const Steps& chosen) const
    {
        if (m_request.analysis.program.op(step(i).op).outputs.size() != 1) return 0;
        int count = 0;
        for (const int reader : chosen)
            for (const analysis::OperandRows& o : m_request.uses[static_cast<std::size_t>(reader)].operands)
                count += o.value == resultOf(i) && o.rows == step(i).rows && isRead(reader, o) ? 1 : 0;
        return count;
    }

    bool isRead(int reader, const analysis::OperandRows& o) const
    {
        return std::ranges::any_of(act(reader)->arguments,
                                   [&](const StripArgument& a) { return a.value == o.value && a.rows == o.rows; });
    }

    // Steps that depend on one of these.
    std::vector<bool> dependents(const Steps& on) const
    {
        std::vector<bool> found(static_cast<std::size_t>(m_dependences.count()), false);
        for (int i = 0; i < m_dependences.count(); ++i)
            found[static_cast<std::size_t>(i)] = std::ranges::any_of(m_dependences.of(i), [&](int before) {
                return on.contains(before) || found[static_cast<std::size_t>(before)];
            });
        return found;
    }

    // Whether nothing outside lies between two steps.
    bool isConvex(const Steps& steps) const
    {
        const std::vector<bool> behind = dependents(steps);
        return std::ranges::all_of(steps, [&](int i) {
            return std::ranges::all_of(m_dependences.of(i), [&](int on) {
                return steps.contains(on) || !behind[static_cast<std::size_t>(on)];
            });
        });
    }

    const StripRequest& m_request;
    Dependences m_dependences;
    std::vector<std::optional<StripAct>> m_acts;
    std::vector<StripRegion> m_regions;
};

}  // namespace

std::vector<StripRegion> stripRegions(const StripRequest& request)
{
    if (!request.families.chain && !request.families.softmax && !request.families.several) return {};
    std::vector<StripRegion> regions = Finder(request).find();
    // Each region can be computed at once, but two of them may wait for steps of each other.
    while (stepsWithRegions(request.analysis, request.loop, request.uses, regions).size() < request.uses.size())
        regions.pop_back();
    return regions;
}

std::vector<int> stepsWithRegions(const analysis::Analysis& analysis, const plan::Loop& loop,
                                  const std::vector<StepUse>& uses, const std::vector<StripRegion>& regions)
{
    std::vector<int> order(regions.empty() ? uses.size() : 0);
    std::iota(order.begin(), order.end(), 0);
    if (regions.empty()) return order;
    const Dependences dependences(analysis, loop, uses);
    std::vector<const StripRegion*> regionOf(uses.size(), nullptr);
    for (const StripRegion& r : regions)
        for (const int i : r.steps) regionOf[static_cast<std::size_t>(i)] = &r;
    std::set<int> done;
    const auto together = [&](int i) {
        const StripRegion* const r = regionOf[static_cast<std::size_t>(i)];
        return r ? r->steps : std::vector<int>{i};
    };
    const auto ready = [&](const std::vector<int>& steps) {
        return std::ranges::all_of(steps, [&](int i) {
            return std::ranges::all_of(dependences.of(i), [&](int on) {
                return done.contains(on) || std::ranges::find(steps, on) != steps.end();
            });
        });
    };
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < dependences.count() && !more; ++i) {
            const std::vector<int> steps = together(i);
            if (done.contains(i) || !ready(steps)) continue;
            order.insert(order.end(), steps.begin(), steps.end());
            done.insert(steps.begin(), steps.end());
            more = true;
        }
    }
    return order;
}

}  // namespace hopscope::executor
