// torch::data::make_data_loader: batches of a dataset, in the order of a sampler, made by worker threads if asked for.
#pragma once

#include <torch/arg.h>
#include <torch/data/datasets.h>
#include <torch/data/samplers.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace torch::data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}
  TORCH_ARG(size_t, batch_size) = 1;
  TORCH_ARG(size_t, workers) = 0;
  TORCH_ARG(std::optional<size_t>, max_jobs);
  TORCH_ARG(std::optional<std::chrono::milliseconds>, timeout);
  TORCH_ARG(bool, enforce_ordering) = true;
  TORCH_ARG(bool, drop_last) = false;
};
/// The same, with the defaults filled in.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(DataLoaderOptions options)
      : batch_size(options.batch_size()),
        workers(options.workers()),
        max_jobs(options.max_jobs().value_or(2 * workers)),
        timeout(options.timeout()),
        enforce_ordering(options.enforce_ordering()),
        drop_last(options.drop_last()) {}
  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
};

/// What a worker thread threw, for the thread that asks for the batch.
struct WorkerException : public std::exception {
  explicit WorkerException(std::exception_ptr original) : original_exception(std::move(original)) {
    try {
      std::rethrow_exception(original_exception);
    } catch (std::exception& error) {
      message = std::string("Caught exception in DataLoader worker thread. Original message: ") + error.what();
    } catch (...) {
      message = "Caught exception in DataLoader worker thread.";
    }
  }
  const char* what() const noexcept override { return message.c_str(); }
  std::string message;
  std::exception_ptr original_exception;
};

/// An input iterator over batches; all copies of one share its place.
template <typename Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  Iterator() = default;
  explicit Iterator(std::function<std::optional<Batch>()> next) : place_(std::make_shared<Place>()) {
    place_->next = std::move(next);
  }
  Iterator& operator++() {
    TORCH_CHECK(place_ != nullptr && !fetch().ended, "Attempted to increment iterator past the end");
    place_->batch = place_->next();
    place_->ended = !place_->batch.has_value();
    return *this;
  }
  Batch& operator*() {
    TORCH_CHECK(place_ != nullptr && !fetch().ended,
                "Attempted to dereference iterator that was past the end");
    return *place_->batch;
  }
  Batch* operator->() { return &**this; }
  bool operator==(const Iterator& other) const { return is_end() ? other.is_end() : place_ == other.place_; }
  bool operator!=(const Iterator& other) const { return !(*this == other); }

 private:
  struct Place {
    std::function<std::optional<Batch>()> next;
    std::optional<Batch> batch;
    bool begun = false, ended = false;
  };
  /// The first batch is made when it is looked at, not before.
  Place& fetch() const {
    if (!place_->begun) {
      place_->begun = true;
      place_->batch = place_->next();
      place_->ended = !place_->batch.has_value();
    }
    return *place_;
  }
  bool is_end() const { return place_ == nullptr || fetch().ended; }
  std::shared_ptr<Place> place_;
};

/// Requests and batches go through here: to workers, or at once where there are none.
template <typename Dataset, typename Batch, typename BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : options_(options), main_thread_dataset_(std::move(main_thread_dataset)) {}
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;
  virtual ~DataLoaderBase() { join(); }

  Iterator<Batch> begin() {
    TORCH_CHECK(in_flight_ == 0, "Attempted to get a new DataLoader iterator while another iterator is not yet "
                                 "exhausted");
    reset();
    return Iterator<Batch>([this] { return this->next(); });
  }
  Iterator<Batch> end() { return Iterator<Batch>(); }
  /// Ends the workers.
  void join() {
    if (joined_) return;
    joined_ = true;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  virtual void reset() {
    next_number_ = 0;
    asked_ = 0;
    finished_.clear();
    prefetch(options_.workers == 0 ? 0 : options_.max_jobs);
  }
  /// Begins a worker with a dataset of its own, or one that all share.
  template <typename MakeDataset>
  void start_workers(MakeDataset&& make) {
    for (size_t i = 0; i < options_.workers; ++i)
      workers_.emplace_back([this, dataset = make()]() mutable { work(*dataset); });
  }

  const FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> main_thread_dataset_;

 private:
  struct Job {
    size_t number;
    BatchRequest request;
  };
  struct Finished {
    std::optional<Batch> batch;
    std::exception_ptr error;
  };

  /// The batch of a request; none where a dataset with a state has ended.
  static std::optional<Batch> made(Dataset& dataset, BatchRequest request) {
    if constexpr (Dataset::is_stateful) {
      auto batch = dataset.get_batch(std::move(request));
      if (!batch.has_value()) return std::nullopt;
      return std::optional<Batch>(std::move(*batch));
    } else {
      return std::optional<Batch>(dataset.get_batch(std::move(request)));
    }
  }
  void prefetch(size_t jobs) {
    for (size_t i = 0; i < jobs; ++i) {
      std::optional<BatchRequest> request = get_batch_request();
      if (!request.has_value()) break;
      const std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push_back({asked_++, std::move(*request)});
      ++in_flight_;
      work_.notify_one();
    }
  }
  std::optional<Batch> next() {
    if (options_.workers == 0) {
      std::optional<BatchRequest> request = get_batch_request();
      if (!request.has_value()) return std::nullopt;
      return made(*main_thread_dataset_, std::move(*request));
    }
    while (in_flight_ > 0) {
      std::optional<Finished> found = wait();
      TORCH_CHECK(found.has_value(), "Timeout in DataLoader queue while waiting for next batch");
      --in_flight_;
      ++next_number_;
      if (found->error) throw WorkerException(found->error);
      if (!found->batch.has_value()) continue;
      prefetch(1);
      return std::move(found->batch);
    }
    return std::nullopt;
  }
  /// The next batch in order, or whichever is ready first where the order is not enforced.
  std::optional<Finished> wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto ready = [&] {
      return options_.enforce_ordering ? finished_.count(next_number_) != 0 : !finished_.empty();
    };
    const auto waiting = [&]() -> bool {
      if (!options_.timeout.has_value()) {
        done_.wait(lock, ready);
        return true;
      }
      return done_.wait_for(lock, *options_.timeout, ready);
    };
    if (!waiting()) return std::nullopt;
    auto found = options_.enforce_ordering ? finished_.find(next_number_) : finished_.begin();
    Finished result = std::move(found->second);
    finished_.erase(found);
    return result;
  }
  void work(Dataset& dataset) {
    for (;;) {
      std::optional<Job> job;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        work_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
        if (stopping_) return;
        job.emplace(std::move(jobs_.front()));
        jobs_.pop_front();
      }
      Finished result;
      try {
        result.batch = made(dataset, std::move(job->request));
      } catch (...) {
        result.error = std::current_exception();
      }
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        finished_.emplace(job->number, std::move(result));
      }
      done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<Job> jobs_;
  std::map<size_t, Finished> finished_;
  std::vector<std::thread> workers_;
  size_t in_flight_ = 0, asked_ = 0, next_number_ = 0;
  bool joined_ = false, stopping_ = false;
};

/// Of a dataset that is asked for what a sampler says.
template <typename Dataset, typename Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : super(options), sampler_(std::move(sampler)) {
    this->start_workers([&] { return std::make_unique<Dataset>(dataset); });
    if (this->options_.workers == 0) this->main_thread_dataset_ = std::make_unique<Dataset>(std::move(dataset));
  }
  ~StatelessDataLoader() override { this->join(); }

 private:
  void reset() override {
    sampler_.reset(std::nullopt);
    super::reset();
  }
  std::optional<typename Sampler::BatchRequestType> get_batch_request() override {
    auto request = sampler_.next(this->options_.batch_size);
    if (!request.has_value() || (this->options_.drop_last && size_of(*request) < this->options_.batch_size))
      return std::nullopt;
    return request;
  }
  template <typename Request>
  static size_t size_of(const Request& request) {
    return request.size();
  }
  Sampler sampler_;
};

/// Of a dataset that knows itself what comes next.
template <typename Dataset>
class StatefulDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType>;
  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : super(options, std::make_unique<Dataset>(std::move(dataset))) {
    this->start_workers([&] { return this->main_thread_dataset_.get(); });
  }
  ~StatefulDataLoader() override { this->join(); }

 private:
  void reset() override {
    this->main_thread_dataset_->reset();
    super::reset();
  }
  std::optional<typename Dataset::BatchRequestType> get_batch_request() override { return this->options_.batch_size; }
};

template <typename Dataset, typename Sampler>
std::enable_if_t<!Dataset::is_stateful, std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>> make_data_loader(
    Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset), std::move(sampler), options);
}
template <typename Sampler = samplers::RandomSampler, typename Dataset>
std::enable_if_t<!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>,
                 std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  TORCH_CHECK(size.has_value(), "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}
template <typename Dataset>
std::enable_if_t<Dataset::is_stateful, std::unique_ptr<StatefulDataLoader<Dataset>>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
}

}  // namespace torch::data
