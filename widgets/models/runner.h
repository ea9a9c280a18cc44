#pragma once

// Runs work outside the event loop: a plain function runs on a pool, and another one gets its result in the thread of a
// given object. A pool of one thread keeps the order of its results.

#include <QFutureWatcher>
#include <QObject>
#include <QPromise>
#include <QThreadPool>
#include <memory>

namespace hopscope::models {

// Calls `work()` on `pool` and later `then(result)` in the thread of `context`, but not if `context` is destroyed
// first. `work` must own all data that it reads.
template <class Work, class Then>
void runAside(QThreadPool& pool, QObject* context, Work work, Then then)
{
    using Result = std::shared_ptr<std::invoke_result_t<Work>>;
    auto* watcher = new QFutureWatcher<Result>(context);
    QObject::connect(watcher, &QFutureWatcherBase::finished, context, [watcher, then = std::move(then)]() mutable {
        watcher->deleteLater();
        then(std::move(*watcher->result()));
    });
    auto promise = std::make_shared<QPromise<Result>>();
    watcher->setFuture(promise->future());
    pool.start([promise, job = std::make_shared<Work>(std::move(work))]() mutable {
        promise->start();
        promise->addResult(std::make_shared<typename Result::element_type>((*job)()));
        job.reset();
        promise->finish();
    });
}

// Returns another owner of the same object. After the last copy of it is released, another thread destroys the object,
// because destroying large objects is slow.
template <class T>
std::shared_ptr<T> releasedAside(std::shared_ptr<T> inner)
{
    T* object = inner.get();
    if (!object) return nullptr;
    return {object, [inner = std::move(inner)](T*) mutable {
                QThreadPool::globalInstance()->start([last = std::move(inner)]() mutable { last.reset(); });
            }};
}

}  // namespace hopscope::models
