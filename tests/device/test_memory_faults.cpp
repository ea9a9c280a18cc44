// Device memory and pinned memory that is not there.

#include <doctest/doctest.h>

#include "device_runs.h"
#include "support/tier.h"

namespace hopscope::device_tests {

namespace {

constexpr std::int64_t mib = 1 << 20;
using base::ErrorCode;

std::int64_t allocationsOf(const Subject& s, const executor::Options& options)
{
    fake_device::resetCounts();
    const Attempt whole = attempt(s, options);
    CHECK(whole.unlessRight() == "");
    return fake_device::counts().allocations;
}

// Runs with the n-th allocation failing.
void failOne(const Subject& s, const executor::Options& options, std::int64_t n, Tally& tally)
{
    CAPTURE(n);
    fake_device::failAllocation(n);
    const Attempt result = attempt(s, options);
    fake_device::failAllocation(0);
    CHECK(result.unless(ErrorCode::Resources) == "");
    tally.add(result);
}

// Each allocation in turn.
void failEach(const Subject& s, const executor::Options& options, Tally& tally)
{
    const std::int64_t count = allocationsOf(s, options);
    CHECK(count > 10);
    for (std::int64_t n = 1; n <= count; ++n) failOne(s, options, n, tally);
}

std::vector<models::Case> zoo()
{
    std::vector<models::Case> cases;
    for (const char* group : {"convolutions", "scripted", "structures", "writings", "typed", "programs"})
        if (auto listed = models::readCases(std::string(TEST_ZOO) + "/" + group + ".list"))
            for (models::Case& c : *listed)
                if (c.expectation == models::Expectation::Equal && std::filesystem::exists(c.model))
                    cases.push_back(std::move(c));
    return cases;
}

std::int64_t below(std::mt19937_64& random, std::int64_t count)
{
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
}

// Some places of one model.
void failSome(const Subject& s, const executor::Options& options, int places, std::mt19937_64& random, Tally& tally)
{
    CAPTURE(options.batch.value_or(0));
    const std::int64_t count = allocationsOf(s, options);
    for (int k = 0; k < places && count > 0; ++k) failOne(s, options, 1 + below(random, count), tally);
}

}  // namespace

TEST_CASE_FIXTURE(Device, "Whichever allocation fails, the run ends right or says that memory is short")
{
    Tally tally;
    for (const std::string& name : smallModels)
        for (const std::int64_t batch : {0, 7}) {
            CAPTURE(name);
            CAPTURE(batch);
            failEach(subject(name), onGpu(batch), tally);
        }
    MESSAGE("one failed allocation each, " << tally.text());
    CHECK(tally.right > 3 * tally.refused);
}

TEST_CASE_FIXTURE(Device, "Allocations of any generated model may fail")
{
    const std::vector<models::Case> cases = zoo();
    if (cases.empty()) {
        MESSAGE("no generated models at " TEST_ZOO);
        return;
    }
    std::mt19937_64 random(20);
    Tally tally, single;
    while (tally.tried + single.tried < 300) {
        const models::Case& c = cases[static_cast<std::size_t>(below(random, std::ssize(cases)))];
        CAPTURE(c.name);
        const auto s = makeSubject(c, random() % 2);
        const std::int64_t batch = std::array{0, 1, 7, 1000}[static_cast<std::size_t>(below(random, 4))];
        if (s) failSome(*s, onGpu(batch), 3, random, batch == 1 ? single : tally);
    }
    MESSAGE("one failed allocation in generated models, " << tally.text());
    MESSAGE("with batches of one, " << single.text());
    CHECK(tally.right > 3 * tally.refused);
}

TEST_CASE_FIXTURE(Device, "Without pinned memory the numbers are right and a note says so")
{
    for (const std::string& name : smallModels)
        for (const std::int64_t batch : {0, 7}) {
            CAPTURE(name);
            CAPTURE(batch);
            fake_device::resetCounts();
            fake_device::failEveryPinned(true);
            const Attempt result = attempt(subject(name), onGpu(batch));
            CHECK(result.unlessRight() == "");
            CHECK(result.notes("pinned memory"));
            CHECK(fake_device::counts().uploads > 0);
            CHECK(fake_device::counts().pageableUploads == fake_device::counts().uploads);
            fake_device::failEveryPinned(false);
        }
}

TEST_CASE_FIXTURE(Device, "Any one piece of pinned memory may be missing")
{
    for (const std::string& name : smallModels) {
        fake_device::resetCounts();
        const Attempt whole = attempt(subject(name), onGpu(7));
        CHECK_FALSE(whole.notes("pinned memory"));
        const std::int64_t count = fake_device::counts().pinnedAllocations;
        CHECK(count > 0);
        for (std::int64_t n = 1; n <= count; ++n) {
            CAPTURE(name);
            CAPTURE(n);
            fake_device::failPinned(n);
            const Attempt result = attempt(subject(name), onGpu(7));
            CHECK(result.unlessRight() == "");
            CHECK(result.notes("pinned memory"));
        }
    }
}

TEST_CASE_FIXTURE(Device, "A tenth of a GPU's memory is enough, or it is said that it is not")
{
    Tally tally;
    for (const std::int64_t total : {16 * mib, 32 * mib, 64 * mib, 256 * mib, 4096 * mib})
        for (const std::string name : {"gcn", "gat", "normed", "edges", "wide", "rows"}) {
            CAPTURE(name);
            CAPTURE(total);
            fake_device::setTotalMemory(total);
            fake_device::takeByOthers(0, total / 10 * 9);
            const Attempt result = attempt(subject(name), onGpu(0));
            CHECK(result.unless(ErrorCode::Resources) == "");
            if (total >= 256 * mib) CHECK_FALSE(result.error.has_value());
            tally.add(result);
        }
    MESSAGE("with a tenth of the memory, " << tally.text());
}

TEST_CASE_FIXTURE(Device, "Others may take all that is left in the middle of a run")
{
    std::mt19937_64 random(6);
    Tally tally;
    for (int round = 0; round < 40; ++round) {
        const std::string name = std::array{"gcn", "normed", "wide"}[static_cast<std::size_t>(round % 3)];
        const std::int64_t at = below(random, 60), batch = std::array{0, 7, 3000}[static_cast<std::size_t>(round % 3)];
        CAPTURE(name);
        CAPTURE(at);
        CAPTURE(batch);
        std::int64_t event = 0;
        EveryEvent taking([&] {
            if (event++ == at) fake_device::takeByOthers(0, freeOfDriver(0) - 4 * mib);
        });
        const Attempt result = attempt(subject(name), onGpu(batch), taking);
        CHECK(result.unless(ErrorCode::Resources) == "");
        tally.add(result);
        fake_device::takeByOthers(0, 0);
    }
    MESSAGE("with memory that vanishes, " << tally.text());
    CHECK(tally.right > 0);
}

// ---- limits

namespace {

class Reserved final : public executor::Observer {
public:
    void batchFinished(const executor::BatchEvent& e) override
    {
        most = std::max({most, e.reservedMemory, fake_device::reserved(0)});
        mostAllocated = std::max(mostAllocated, e.peakMemory);
    }
    std::int64_t most = 0, mostAllocated = 0;
};

Attempt limited(const Subject& s, std::int64_t limit, std::int64_t batch, Reserved& reserved)
{
    executor::Options options = onGpu(batch);
    options.memory = limit;
    return attempt(s, options, reserved);
}

// Runs every model at every limit (MiB), in batches that the executor chooses and larger ones: right, or out of memory.
// The default tier takes a fifth of these runs, in which every limit occurs, and every model in both kinds of batches.
template <class Check>
Tally atLimits(std::initializer_list<std::int64_t> limits, std::initializer_list<std::string> names, Check&& check)
{
    Tally tally;
    int number = 0;
    for (const std::int64_t limit : limits)
        for (const std::string& name : names)
            for (const std::int64_t batch : {0, 5000}) {
                if (number++ % test::oneIn(5) != 0) continue;
                CAPTURE(limit);
                CAPTURE(name);
                CAPTURE(batch);
                Reserved reserved;
                const Attempt result = limited(subject(name), limit * mib, batch, reserved);
                CHECK(result.unless(ErrorCode::Resources) == "");
                check(limit, result, reserved);
                tally.add(result);
            }
    return tally;
}

}  // namespace

TEST_CASE_FIXTURE(Device, "No batch reserves more than the limit")
{
    const auto check = [](std::int64_t limit, const Attempt& result, const Reserved& reserved) {
        CHECK(reserved.most <= limit * mib);
        if (result.error) CHECK(result.error->hint.find("--memory") != std::string::npos);
        if (limit >= 64) CHECK_FALSE(result.error.has_value());
        if (limit == 1) CHECK(result.error.has_value());
    };
    const Tally tally = atLimits({1, 2, 3, 4, 6, 8, 16, 24, 42, 44, 64, 100, 300},
                                 {"gcn", "gat", "normed", "edges", "wide", "rows"}, check);
    MESSAGE("with limits, " << tally.text());
}

TEST_CASE_FIXTURE(Device, "A limit ends with its run")
{
    Reserved first, second;
    CHECK(limited(subject("wide"), 1 * mib, 0, first).failedWith(ErrorCode::Resources));
    CHECK(attempt(subject("wide"), onGpu(0), second).unlessRight() == "");
    CHECK(second.most > mib);
}

TEST_CASE_FIXTURE(Device, "A run without a limit keeps the user's own limit of LibTorch")
{
    fake_device::resetCounts();
    CHECK(accelerator().limitMemory(0, 64 * mib));  // as PYTORCH_CUDA_ALLOC_CONF does
    Reserved reserved;
    CHECK(attempt(subject("gcn"), onGpu(0), reserved).unlessRight() == "");
    CHECK_THROWS_AS(at::empty({100 * mib}, fake_device::on(0, at::kByte)), c10::OutOfMemoryError);
    CHECK(accelerator().limitMemory(0, 0));
    CHECK_NOTHROW(at::empty({100 * mib}, fake_device::on(0, at::kByte)));
    c10::getDeviceAllocator(fake_device::type())->emptyCache();
}

TEST_CASE_FIXTURE(Device, "Where LibTorch takes no limit, the tensors of a batch keep it")
{
    accelerator().takesLimits = false;
    const auto check = [](std::int64_t limit, const Attempt&, const Reserved& reserved) {
        CHECK(reserved.mostAllocated <= limit * mib);
    };
    const Tally tally = atLimits({1, 3, 4, 8, 24, 42, 44, 64}, {"gcn", "normed", "wide", "rows"}, check);
    MESSAGE("with limits that the executor keeps, " << tally.text());
    CHECK(tally.right > 0);
}

TEST_CASE_FIXTURE(Device, "A reduction counts a batch once that is redone because of the limit")
{
    accelerator().takesLimits = false;
    for (int crossed = 1; crossed <= 12; ++crossed) {
        CAPTURE(crossed);
        int launches = 0;
        accelerator().beforeSegment = [&] {
            if (++launches == crossed) at::empty({64 * mib}, fake_device::on(0, at::kByte));
        };
        Reserved reserved;
        const Attempt result = limited(subject("normed"), 32 * mib, 7, reserved);
        CHECK(result.unlessRight() == "");
        CHECK(result.notes("batch reduced"));
        CHECK(reserved.most <= 32 * mib);
    }
}

}  // namespace hopscope::device_tests
