// How long runs take by the fake device's clock where all tables are resident, against what no run can be faster than.
//
// The clock counts copies at the rate of the link, kernels at the rates of the device, launches, and every wait of the
// host for the device. It does not count the host's own work: reading files, pinning memory, the prologue, writing. The
// graphs are a hundredth of the one that a GPU is measured with, and so are all rates, but not the time of a launch.

#include <algorithm>

#include <doctest/doctest.h>

#include "device_runs.h"
#include "planned_model.h"
#include "resident_layers.h"

namespace hopscope::device_tests {

namespace {

constexpr double smaller = 100;
constexpr double worst = 1.3;  // times the bound

struct Rates {
    std::string name;
    double link;          // bytes/s, each way
    double gather, rows;  // bytes/s of rows along edges, and of other rows
    double operations;    // of products, 1/s
};

const std::vector<Rates> machines{{"as measured on an H100", 54.8e9, 2.31e12, 2.9e12, 28e12},
                                  {"by the data sheet", 63e9, 3.35e12, 3.35e12, 67e12}};

fake_device::Latency latencyOf(const Rates& r)
{
    return {.launchSeconds = 4e-6,
            .copyLatency = 8e-6,
            .h2dBytesPerSecond = r.link / smaller,
            .d2hBytesPerSecond = r.link / smaller,
            .kernelSeconds = 2e-6,
            .kernelBytesPerSecond = r.rows / smaller,
            .gatherBytesPerSecond = r.gather / smaller,
            .operationsPerSecond = r.operations / smaller};
}

plan::Machine machineOf(const Rates& r)
{
    plan::Machine machine = plan::typicalMachine("cuda:0");
    machine.read = machine.write = r.link / smaller;
    machine.gather = machine.read / 2;
    machine.structure = 4e8 / smaller;
    machine.elementwise = r.rows / smaller;
    machine.aggregate = r.gather / smaller;
    machine.matmul = r.operations / smaller;
    return machine;
}

// What one layer has to do, in units of a row of the features' width.
struct Work {
    std::string name;
    double walks = 1;     // rows read along each edge
    double heads = 0;     // numbers read along each edge
    double products = 1;  // of the rows of nodes with a square matrix
    double onEdges = 0;   // of rows of edges
    double edgeRows = 0;  // rows of edges written, or read beside them
    double nodeRows = 2;  // the layer's input and output
};

// PNA multiplies the rows of both ends of each edge, side by side, by a matrix. It gathers, joins and stacks these rows, and
// writes four aggregations, scales them twice and joins them.
const std::vector<Work> works{{.name = "sage", .walks = 1, .products = 2},
                              {.name = "gcn", .walks = 1, .heads = 1, .products = 1},
                              {.name = "gat", .walks = 1, .heads = 2, .products = 1},
                              {.name = "gatv2", .walks = 2, .products = 2},
                              {.name = "transformer", .walks = 2, .products = 4},
                              {.name = "resgated", .walks = 2, .products = 4},
                              {.name = "gine", .walks = 2, .products = 1},
                              {.name = "pna", .walks = 3, .products = 10, .onEdges = 2, .edgeRows = 8, .nodeRows = 23}};

// The features have to be there before anything is computed; results can leave while the last layer is computed. A product
// reads and writes rows while it computes.
double boundOf(const Subject& s, const Layer& layer, const Work& work, const Rates& rates)
{
    const auto nodes = static_cast<double>(s.inputs.at("x").shape[0]);
    const auto width = static_cast<double>(s.inputs.at("x").shape[1]);
    const auto edges = static_cast<double>(countEdges(s.inputs, layer.selfLoops).count);
    const double row = 4 * width, operations = 2 * width * width;
    const double products = work.products * nodes * std::max(operations / rates.operations, 2 * row / rates.rows) +
                            work.onEdges * edges * operations / rates.operations;
    const double along = edges * (work.walks * row + work.heads * 4) / rates.gather;
    const double beside = (work.nodeRows * nodes + work.edgeRows * edges) * row / rates.rows;
    const double device = along + beside + products, out = nodes * row / rates.link;
    const double in = static_cast<double>(bytesUp(s, layer)) / rates.link;
    return (in + device + std::max(device, out)) * smaller;
}

void check(const Subject& s, const Layer& layer, const Work& work, const Rates& rates)
{
    fake_device::setLatency(latencyOf(rates));
    fake_device::resetClock();
    fake_device::resetCounts();
    const Attempt result = attempt(s, onGpu(0));  // nothing stays pinned
    CHECK(result.unlessRight() == "");
    CHECK(static_cast<double>(fake_device::counts().bytesUp) ==
          doctest::Approx(static_cast<double>(bytesUp(s, layer))).epsilon(0.01));
    const double seconds = fake_device::virtualSeconds(), bound = boundOf(s, layer, work, rates);
    const fake_device::BusySeconds busy = fake_device::busySeconds();
    MESSAGE(s.name << ", " << rates.name << ": " << seconds * 1e3 << " ms, " << seconds / bound << " of the bound; in "
                   << busy.h2d * 1e3 << ", computing " << busy.compute * 1e3 << ", out " << busy.d2h * 1e3);
    CHECK(seconds <= worst * bound);
}

}  // namespace

TEST_CASE_FIXTURE(Paced, "Where all is resident, runs take hardly longer than copies and kernels must")
{
    for (const std::string size : {"-dense", "-wide"})
        for (const Layer& layer : layers) {
            CAPTURE(layer.name);
            const auto work = std::ranges::find(works, layer.name, &Work::name);
            if (layer.name == "edgeconv") continue;  // products on edges dominate
            for (const Rates& rates : machines) {
                const KnownRates known({machineOf(rates)});
                Subject s = largeConvolution(layer.name + size);
                s.plan = Planned(s).byDefault();
                CHECK(s.plan.residentStructure);
                check(s, layer, *work, rates);
            }
        }
}

}  // namespace hopscope::device_tests
