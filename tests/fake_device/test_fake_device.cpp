#include <csignal>

#include <ATen/CPUGeneratorImpl.h>

#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include "fake_device/on_device.h"

using namespace hopscope;
using namespace hopscope::fake_device;

TEST_CASE_FIXTURE(Fresh, "The host cannot touch device memory")
{
    const at::Tensor there = at::zeros({4}, on(0));
    CHECK(signalOf([&] { (void)*static_cast<volatile const float*>(there.const_data_ptr<float>()); }) == SIGSEGV);
    CHECK(signalOf([&] { *there.mutable_data_ptr<float>() = 1; }) == SIGSEGV);
}

TEST_CASE_FIXTURE(Fresh, "Fresh memory holds not-a-numbers and indices out of range")
{
    CHECK(at::empty({100}, on(0)).cpu().isnan().all().item<bool>());
    CHECK(at::empty({100}, on(1, at::kLong)).cpu().eq(-1).all().item<bool>());
    {
        const at::Tensor used = at::ones({100}, on(0));
    }
    CHECK(at::empty({100}, on(0)).cpu().isnan().all().item<bool>());
}

TEST_CASE_FIXTURE(Fresh, "Operators compute what the CPU computes")
{
    bool inference = false;
    SUBCASE("with autograd") {}
    SUBCASE("in inference mode") { inference = true; }
    const c10::InferenceMode mode(inference);
    at::manual_seed(1);
    const at::Tensor a = at::randn({5, 6}), b = at::randn({6, 3}), rows = at::tensor({4, 0, 0, 2}, at::kLong);
    const auto everything = [&](const at::Device& d) {
        const at::Tensor x = a.to(d), y = b.to(d), i = rows.to(d);
        at::Tensor grown = at::zeros({5, 3}, x.options());
        grown.index_add_(0, i, x.mm(y).index_select(0, i));
        grown.select(0, 1).fill_(7);
        const at::Tensor parts = at::cat({grown, x.mm(y).softmax(1)}, 1).unfold(1, 2, 2).transpose(1, 2).contiguous();
        const auto [values, order] = parts.sum({1, 2}).sort();
        return at::cat({parts.flatten(), values, order.to(at::kFloat), x.masked_select(x > 0),
                        x.to(at::kDouble).to(at::kFloat).flatten(), x.argmax(1).to(at::kFloat),
                        at::arange(3, x.options()), x.view({3, 10}).t().reshape({-1})})
            .cpu();
    };
    CHECK(at::equal(everything(gpu(0)), everything(at::kCPU)));
    CHECK(at::equal(everything(gpu(1)), everything(at::kCPU)));
}

TEST_CASE_FIXTURE(Fresh, "Normalisations are the CPU's, to the bit")
{
    const at::Tensor x = at::randn({6, 4, 3}, at::detail::createCPUGenerator(5));
    CHECK(at::equal(at::layer_norm(x.to(gpu()), {3}).cpu(), at::layer_norm(x, {3})));
    CHECK(at::equal(at::group_norm(x.to(gpu()), 2).cpu(), at::group_norm(x, 2)));
}

TEST_CASE_FIXTURE(Fresh, "Recurrent cells compute what the CPU's operators compute")
{
    const at::Generator random = at::detail::createCPUGenerator(3);
    const auto draw = [&](at::IntArrayRef shape) { return at::randn(shape, random); };
    const at::Tensor x = draw({4, 5}), h = draw({4, 6}), c = draw({4, 6});
    for (const std::int64_t gates : {3, 4}) {
        const at::Tensor wi = draw({6 * gates, 5}), wh = draw({6 * gates, 6}), bi = draw({6 * gates}),
                         bh = draw({6 * gates});
        const auto cell = [&](const at::Device& d) {
            const auto to = [&](const at::Tensor& t) { return t.to(d); };
            if (gates == 3) return at::gru_cell(to(x), to(h), to(wi), to(wh), to(bi), to(bh)).cpu();
            const auto [state, memory] = at::lstm_cell(to(x), {to(h), to(c)}, to(wi), to(wh), to(bi), to(bh));
            return at::cat({state, memory}, 1).cpu();
        };
        CHECK(at::allclose(cell(gpu()), cell(at::kCPU), 1e-5, 1e-6));
    }
}

namespace {

// hx, and cx where there are two, of 2 sequences with 3 features.
at::Tensor recurrent(const at::Tensor& x, const std::vector<at::Tensor>& states)
{
    const at::Generator random = at::detail::createCPUGenerator(3);
    const auto weight = [&] {
        return at::randn({static_cast<std::int64_t>(states.size() == 2 ? 12 : 3), 3}, random).to(x.device());
    };
    const at::Tensor ofInput = weight(), ofState = weight();
    if (states.size() == 2)
        return std::get<0>(at::lstm(x, states, {ofInput, ofState}, false, 1, 0, false, false, true)).cpu();
    return std::get<0>(at::rnn_relu(x, states[0], {ofInput, ofState}, false, 1, 0, false, false, true)).cpu();
}

}  // namespace

TEST_CASE_FIXTURE(Fresh, "Recurrent layers are the CPU's, and want contiguous states as cuDNN does")
{
    const at::Tensor x = at::randn({2, 4, 3}, at::detail::createCPUGenerator(5)), there = x.to(gpu());
    const at::Tensor start = at::zeros({1, 2, 3}), on = start.to(gpu()), repeated = on.select(1, 0).expand({1, 2, 3});
    CHECK(at::equal(recurrent(there, {on}), recurrent(x, {start})));
    CHECK(at::equal(recurrent(there, {on, on}), recurrent(x, {start, start})));
    CHECK_THROWS_WITH_AS(recurrent(there, {repeated}), doctest::Contains("rnn: hx is not contiguous"), c10::Error);
    CHECK_THROWS_WITH_AS(recurrent(there, {repeated, on}), doctest::Contains("rnn: hx is not contiguous"), c10::Error);
    CHECK_THROWS_WITH_AS(recurrent(there, {on, repeated}), doctest::Contains("rnn: cx is not contiguous"), c10::Error);
}

TEST_CASE_FIXTURE(Fresh, "Products of half types are refused without split-K as cuBLAS refuses them")
{
    const auto set = [](at::ScalarType type, bool splitK) {
        if (type == at::kHalf) at::globalContext().setAllowFP16ReductionCuBLAS(false, splitK);
        else at::globalContext().setAllowBF16ReductionCuBLAS(false, splitK);
    };
    for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
        const at::Tensor a = at::ones({2, 3}, on(0, type)), b = at::ones({4, 3}, on(0, type));
        set(type, false);
        CHECK_THROWS_WITH_AS(at::linear(a, b), doctest::Contains("requires the cuBLASLt backend"), c10::Error);
        CHECK_THROWS_AS(at::addmm(a.mm(b.t()), a, b.t()), c10::Error);
        CHECK_NOTHROW(at::linear(a.to(at::kFloat), b.to(at::kFloat)));
        set(type, true);
        CHECK(at::linear(a, b).sum().item<float>() == 24);
    }
}

TEST_CASE_FIXTURE(Fresh, "A stream that does not wait for another stream's result is noticed")
{
    const c10::Stream copying = pooledStream(), computing = defaultStream();
    const at::Tensor host = pinnedBytes(8);
    at::Tensor there;
    {
        const c10::StreamGuard guard(copying);
        there = host.to(gpu(), true);
    }
    CHECK_THROWS_WITH_AS(there + 1, doctest::Contains("reads what is written by stream"), c10::Error);
    wait(computing, copying);
    CHECK_NOTHROW(there + 1);
    there.record_stream(computing);
    finish(copying);
    CHECK(findings().size() == 1);
}

TEST_CASE_FIXTURE(Fresh, "A stream that overwrites what another stream still reads is noticed")
{
    const c10::Stream other = pooledStream();
    const at::Tensor t = at::zeros({8}, on(0));
    wait(other, defaultStream());
    {
        const c10::StreamGuard guard(other);
        (void)(t + 1);
    }
    CHECK_THROWS_WITH_AS(t.add_(1), doctest::Contains("overwrites what is read by stream"), c10::Error);
    wait(defaultStream(), other);
    CHECK_NOTHROW(t.add_(1));
}

TEST_CASE_FIXTURE(Fresh, "The host's wait orders streams, and a stream follows what the host knew at the launch")
{
    const c10::Stream other = pooledStream();
    const at::Tensor t = at::zeros({8}, on(0));
    finish(defaultStream());
    const c10::StreamGuard guard(other);
    CHECK_NOTHROW(t + 1);
    finish(other);
}

namespace {

// Frees memory of the default stream after another stream has read it.
void freeAfterUse(bool recorded, bool waited)
{
    const c10::Stream other = pooledStream();
    at::Tensor t = at::zeros({8}, on(0));
    wait(other, defaultStream());
    if (recorded) t.record_stream(other);
    {
        const c10::StreamGuard guard(other);
        (void)(t + 1);
    }
    if (waited) wait(defaultStream(), other);
}

}  // namespace

TEST_CASE_FIXTURE(Fresh, "Memory that is freed while another stream uses it is noticed")
{
    const Findings found;
    freeAfterUse(true, false);
    freeAfterUse(false, true);
    CHECK(found.sentences().empty());
    freeAfterUse(false, false);
    CHECK(found.tell("no record_stream"));
}

TEST_CASE_FIXTURE(Fresh, "Where nobody collects findings the process ends")
{
    CHECK(signalOf([] { freeAfterUse(true, false); }) == 0);
    CHECK(signalOf([] { freeAfterUse(false, false); }) == SIGABRT);
}

TEST_CASE_FIXTURE(Fresh, "A pinned buffer cannot be written while it is copied to the device")
{
    const at::Tensor host = pinnedBytes(3 * 4096);
    auto* const bytes = host.mutable_data_ptr<std::uint8_t>();
    const at::Tensor there = host.slice(0, 4096, 8192).to(gpu(), true);
    CHECK(signalOf([&] { bytes[4096] = 1; }) == SIGSEGV);
    CHECK(signalOf([&] { bytes[8191] = 1; }) == SIGSEGV);
    CHECK(signalOf([&] { bytes[4095] = bytes[8192] = 1; }) == 0);
    CHECK(bytes[4096] == 0);
    finish(defaultStream());
    CHECK(signalOf([&] { bytes[4096] = 1; }) == 0);
}

namespace {

// The second of the kernel's two rows, which two edges read, is on the host.
struct OnHost {
    Kernel kernel{0};
    at::Tensor places = at::tensor({0, 1}, at::kInt).to(gpu());
    at::Tensor host = pinnedBytes(2 * 4096);

    explicit OnHost(const void* memory = nullptr)
    {
        std::fill_n(static_cast<float*>(host.mutable_data_ptr()), 8, 3.0f);
        kernel.host = {places.const_data_ptr<std::int32_t>(), memory ? memory : host.const_data_ptr(), 1};
        finish(defaultStream());
    }
};

}  // namespace

TEST_CASE_FIXTURE(Fresh, "Pinned memory that a kernel reads cannot be written until the host has waited for the kernel")
{
    const OnHost rows;
    auto* const bytes = rows.host.mutable_data_ptr<std::uint8_t>();
    CHECK(rows.kernel.run() == 0);
    CHECK(signalOf([&] { bytes[0] = 1; }) == SIGSEGV);
    CHECK(signalOf([&] { bytes[4096] = 1; }) == 0);
    CHECK(signalOf([&] { (void)*static_cast<volatile const std::uint8_t*>(bytes); }) == 0);
    CHECK(counts().hostReads == 2 * 4 * 4);
    CHECK(rows.kernel.out.cpu().equal(at::tensor({3.f, 4.f, 5.f, 6.f, 3.f, 3.f, 3.f, 3.f}).view({2, 4})));
    CHECK(signalOf([&] { bytes[0] = 1; }) == 0);
}

TEST_CASE_FIXTURE(Fresh, "Kernels read pinned memory only after copies into it that they wait for")
{
    const OnHost rows;
    const at::Tensor there = at::ones({4096}, on(0, at::kByte));
    const c10::Stream copying = pooledStream();
    wait(copying, defaultStream());
    {
        const c10::StreamGuard guard(copying);
        rows.host.narrow(0, 0, 4096).copy_(there, true);
    }
    CHECK_THROWS_WITH_AS(rows.kernel.run(), doctest::Contains("pinned memory"), c10::Error);
    wait(defaultStream(), copying);
    CHECK(rows.kernel.run() == 0);
    finish(defaultStream());
}

TEST_CASE_FIXTURE(Fresh, "A kernel that reads other memory of the host ends the context")
{
    const std::vector<float> pageable(8, 1.0f);
    const OnHost rows(pageable.data());
    const Findings seen;
    CHECK(rows.kernel.run() == 700);
    CHECK(seen.tell("host memory that is not pinned"));
}

TEST_CASE_FIXTURE(Fresh, "A pinned buffer cannot be read while the device copies into it")
{
    const at::Tensor host = pinnedBytes(2 * 4096), there = at::ones({4096}, on(0, at::kByte));
    const auto* const bytes = host.const_data_ptr<std::uint8_t>();
    host.slice(0, 0, 4096).copy_(there, true);
    CHECK(signalOf([&] { (void)*static_cast<volatile const std::uint8_t*>(bytes); }) == SIGSEGV);
    CHECK(bytes[4096] == 0);
    c10::Event event(type());
    event.record(defaultStream());
    event.synchronize();
    CHECK(bytes[0] == 1);
}

TEST_CASE_FIXTURE(Fresh, "Of several copies in one pinned buffer each is given back when it has been waited for")
{
    const at::Tensor host = pinnedBytes(2 * 4096), there = at::ones({4096}, on(0, at::kByte));
    auto* const bytes = host.mutable_data_ptr<std::uint8_t>();
    const c10::Stream other = pooledStream();
    c10::Event first(type());
    host.slice(0, 0, 4096).copy_(there, true);
    first.record(defaultStream());
    wait(other, defaultStream());
    there.record_stream(other);
    {
        const c10::StreamGuard guard(other);
        host.slice(0, 4096).copy_(there, true);
    }
    first.synchronize();
    CHECK(bytes[0] == 1);
    CHECK(signalOf([&] { bytes[4096] = 1; }) == SIGSEGV);
    finish(other);
    CHECK(bytes[4096] == 1);
}

TEST_CASE_FIXTURE(Fresh, "Two copies without order in the same pinned memory are noticed")
{
    const at::Tensor host = pinnedBytes(4096), there = at::ones({4096}, on(0, at::kByte));
    (void)host.to(gpu(), true);
    const c10::Stream other = pooledStream();
    finish(defaultStream());
    (void)host.to(gpu(), true);
    const c10::StreamGuard guard(other);
    CHECK_THROWS_WITH_AS(host.copy_(there, true), doctest::Contains("pinned memory"), c10::Error);
    finish(defaultStream());
}

TEST_CASE_FIXTURE(Fresh, "An asynchronous download into pageable memory is refused")
{
    const at::Tensor there = at::ones({4}, on(0));
    at::Tensor host = at::empty({4});
    CHECK_THROWS_WITH_AS(host.copy_(there, true), doctest::Contains("pageable"), c10::Error);
    CHECK_NOTHROW(host.copy_(there));
    CHECK(host.sum().item<float>() == 4);
}

TEST_CASE_FIXTURE(Fresh, "Tensors of two devices are refused, but for numbers of the CPU")
{
    const at::Tensor here = at::ones({4}), first = at::ones({4}, on(0)), second = at::ones({4}, on(1));
    CHECK_THROWS_WITH_AS(first + second, doctest::Contains("same device"), c10::Error);
    CHECK_THROWS_WITH_AS(first + here, doctest::Contains("same device"), c10::Error);
    CHECK_THROWS_AS(first.index_select(0, at::zeros({2}, at::kLong)), c10::Error);
    CHECK((first + at::scalar_tensor(2)).cpu().sum().item<float>() == 12);
    CHECK((first.to(gpu(1)) + second).cpu().sum().item<float>() == 8);
}

TEST_CASE_FIXTURE(Fresh, "The kernel computes on the current device, and only with that device's memory")
{
    const Kernel first(0), second(1);
    CHECK(first.run() == 0);
    CHECK(at::equal(first.out.cpu(), at::tensor({4, 6, 8, 10, 4, 5, 6, 7}, at::kFloat).view({2, 4})));
    {
        const c10::DeviceGuard guard(gpu(1));
        CHECK(second.run() == 0);
    }
    const Findings found;
    CHECK(second.run() == 700);
    CHECK(found.tell("memory that is not of cuda:0"));
    CHECK_THROWS_WITH_AS(at::ones({4}, on(0)), doctest::Contains("an illegal memory access"), c10::Error);
}

TEST_CASE_FIXTURE(Fresh, "The kernel is refused on a stream of another device")
{
    const Kernel kernel(0);
    const c10::Stream right = pooledStream(0), wrong = pooledStream(1);
    finish(defaultStream());
    CHECK(kernel.run(right.native_handle()) == 0);
    finish(right);
    const Findings found;
    CHECK(kernel.run(wrong.native_handle()) == 700);
    CHECK(found.tell("of cuda:1 used while cuda:0 is current"));
}

TEST_CASE_FIXTURE(Fresh, "Columns out of range are an illegal memory access")
{
    Kernel kernel(0);
    kernel.columns.fill_(-1);
    CHECK_THROWS_WITH_AS(kernel.run(), doctest::Contains("negative"), c10::Error);
    kernel.columns.fill_(1 << 20);
    CHECK_THROWS_WITH_AS(kernel.run(), doctest::Contains("beyond the end"), c10::Error);
}

TEST_CASE_FIXTURE(Fresh, "The columns of no edges may begin where their memory ends")
{
    Kernel kernel(0);
    kernel.offsets.zero_();
    for (const std::int64_t bytes : {std::int64_t{512}, std::int64_t{32} << 20}) {  // a block, all blocks of a segment
        const at::Tensor all = at::zeros({bytes / 8}, on(0, at::kLong));
        kernel.columns = all.narrow(0, all.numel(), 0);
        CHECK(kernel.run() == 0);
        CHECK(at::equal(kernel.out.cpu(), at::zeros({2, 4})));
    }
}

TEST_CASE_FIXTURE(Fresh, "Operators round alike on any number of the host's cores")
{
    const int before = at::get_num_threads();
    std::vector<at::Tensor> products, sums;
    at::manual_seed(1);
    const at::Tensor few = at::randn({3, 129}).to(gpu()), weight = at::randn({129, 64}).to(gpu()),
                     many = at::randn({1 << 18}).to(gpu());
    for (const int threads : {1, 2, 3}) {
        at::set_num_threads(threads);
        products.push_back(few.mm(weight).cpu());
        sums.push_back(many.sum().cpu());
        CHECK(at::equal(products.back(), products.front()));
        CHECK(at::equal(sums.back(), sums.front()));
        CHECK(at::get_num_threads() == threads);
    }
    at::set_num_threads(before);
}

TEST_CASE_FIXTURE(Fresh, "Operators, copies and waits are counted")
{
    const at::Tensor host = pinnedBytes(100), there = at::empty({100}, on(0, at::kByte));
    resetCounts();
    there.copy_(host, true);
    there.add_(1);
    host.copy_(there, true);
    finish(defaultStream());
    (void)at::ones({10}).to(gpu());
    const Counts c = counts();
    CHECK(c.uploads == 2);
    CHECK(c.pageableUploads == 1);
    CHECK(c.downloads == 1);
    CHECK(c.bytesUp == 140);
    CHECK(c.bytesDown == 100);
    CHECK(c.operators == 1);
    CHECK(c.hostWaits == 2);
    CHECK(c.allocations == 1);
}

TEST_CASE_FIXTURE(Fresh, "Two devices are listed unless a test says otherwise")
{
    const auto both = executor::accelerator().list();
    REQUIRE(both.usable.size() == 2);
    CHECK(both.usable[1].id == "cuda:1");
    CHECK(both.usable[1].memory == std::int64_t{4} << 30);
    setListing(executor::GpuListing{{}, {"the driver is too old"}});
    CHECK(executor::accelerator().list().usable.empty());
    CHECK(executor::accelerator().list().missing.size() == 1);
}
