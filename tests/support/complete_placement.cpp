#include "support/complete_placement.h"

#include "optimiser/completion.h"

namespace hopscope::optimiser {

base::Result<Placement> complete(const Instance& instance, const Decisions& decisions)
{
    const Graph graph(instance);
    Completion completion(graph);
    Choice choice = completion.plain();
    for (const NodeId v : decisions.stored) choice.stored[v.at()] = graph.mayStore[v.at()];
    if (!decisions.hopStage.empty()) choice.hopStage = decisions.hopStage;
    if (!decisions.writeStage.empty()) choice.writeStage = decisions.writeStage;
    Cells cells(graph);
    completion.evaluate(choice, &cells);
    if (const int v = completion.stuckAt(); v >= 0)
        return base::fail(base::ErrorCode::Unsupported,
                          "'" + graph.node(v).name + "' is needed where it is neither stored nor computable",
                          "store it, or one of the values that it is computed from");
    return realise(graph, cells);
}

}  // namespace hopscope::optimiser
