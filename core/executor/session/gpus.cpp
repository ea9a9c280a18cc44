#include "executor/session/gpus.h"

#include <algorithm>

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "executor/device/accelerator.h"

namespace hopscope::executor {

namespace {

// A lack of memory is not the fault of one GPU.
[[noreturn]] void throwNamed(const std::string& gpu)
{
    try {
        throw;
    } catch (const c10::OutOfMemoryError&) {
        throw;
    } catch (const c10::Error& e) {
        raise(base::ErrorCode::Internal, gpu + ": LibTorch reports: " + e.what_without_backtrace());
    } catch (const Failure& failure) {
        if (failure.error.code != base::ErrorCode::Internal) throw;
        base::Error error = failure.error;
        error.message = gpu + ": " + error.message;
        throw Failure(error);
    }
}

}  // namespace

Gpus::Gpus(Session& first) : m_first(first), m_cores(0)
{
    std::vector<std::string> names = devicesOf(first.options.device);
    m_firstName = names.front();
    m_cores = std::max(at::get_num_threads() / static_cast<int>(names.size()), 1);
    m_forward.emplace(first.stop, [this] { m_stop.request_stop(); });
    first.stop = m_stop.get_token();
    for (std::size_t i = 1; i < names.size(); ++i) {
        Other& other = *m_others.emplace_back(std::make_unique<Other>());
        other.name = std::move(names[i]);
        other.thread = std::jthread([this, &other] { serve(other); });
        post(other, [this, &other, i] {
            other.session = std::make_unique<Session>(m_first, other.name);
            other.session->number = i;
        });
    }
    try {
        wait();
    } catch (...) {
        end();
        throw;
    }
    introduce();
}

void Gpus::introduce()
{
    std::vector<Session*> all{&m_first};
    for (const auto& other : m_others) all.push_back(other->session.get());
    const auto reaches = [](const Session* from, const Session* to) {
        return from == to || accelerator().reaches(from->device.device().index(), to->device.device().index());
    };
    for (const Session* from : all)
        if (!std::ranges::all_of(all, [&](const Session* to) { return reaches(from, to); })) return;
    for (Session* session : all)
        std::ranges::copy_if(all, std::back_inserter(session->peers), [&](Session* peer) { return peer != session; });
}

Gpus::~Gpus() { end(); }

void Gpus::end()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_changed.notify_all();
    m_others.clear();
}

void Gpus::each(const Work& work)
{
    for (std::size_t i = 0; i < m_others.size(); ++i)
        post(*m_others[i], [&work, &other = *m_others[i], i] { work(*other.session, i + 1); });
    {
        const Cores share(m_cores);
        attempt(m_firstName, [&] { work(m_first, 0); });
    }
    wait();
}

void Gpus::post(Other& other, std::function<void()> task)
{
    {
        const std::lock_guard lock(m_mutex);
        other.task = std::move(task);
    }
    m_changed.notify_all();
}

void Gpus::wait()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock,
                   [this] { return std::ranges::none_of(m_others, [](const auto& o) { return bool(o->task); }); });
    if (m_failure) std::rethrow_exception(m_failure);
}

void Gpus::attempt(const std::string& name, const std::function<void()>& task)
{
    try {
        try {
            task();
        } catch (...) {
            throwNamed(name);
        }
    } catch (...) {
        const std::lock_guard lock(m_mutex);
        if (!m_failure) m_failure = std::current_exception();
        m_stop.request_stop();
    }
}

void Gpus::serve(Other& other)
{
    const c10::InferenceMode inference;
    at::set_num_threads(m_cores);
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait(lock, [&] { return other.task || m_ending; });
        if (!other.task) break;
        lock.unlock();
        attempt(other.name, other.task);
        lock.lock();
        other.task = nullptr;
        m_changed.notify_all();
    }
    lock.unlock();
    if (!other.session) return;
    try {
        other.session->device.setLimit(0);
    } catch (const c10::Error&) {  // the device is lost
    }
    other.session.reset();
}

}  // namespace hopscope::executor
