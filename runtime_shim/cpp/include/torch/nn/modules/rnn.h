// torch::nn::RNN, LSTM and GRU, and their cells.
#pragma once

#include <torch/nn/init.h>
#include <torch/nn/modules/common.h>
#include <torch/nn/options/rnn.h>
#include <torch/nn/utils/rnn.h>

#include <cmath>

namespace torch::nn {

namespace detail {

/// The options of a recurrent network, whichever it is.
struct RNNOptionsBase {
  using rnn_options_base_mode_t =
      enumtype::OneOf<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size)
      : mode_(mode), input_size_(input_size), hidden_size_(hidden_size) {}
  TORCH_ARG(rnn_options_base_mode_t, mode);
  TORCH_ARG(int64_t, input_size);
  TORCH_ARG(int64_t, hidden_size);
  TORCH_ARG(int64_t, num_layers) = 1;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(bool, batch_first) = false;
  TORCH_ARG(double, dropout) = 0.0;
  TORCH_ARG(bool, bidirectional) = false;
  TORCH_ARG(int64_t, proj_size) = 0;
};

template <typename Options>
RNNOptionsBase base_of(RNNOptionsBase::rnn_options_base_mode_t mode, const Options& options) {
  return RNNOptionsBase(mode, options.input_size(), options.hidden_size())
      .num_layers(options.num_layers())
      .bias(options.bias())
      .batch_first(options.batch_first())
      .dropout(options.dropout())
      .bidirectional(options.bidirectional());
}

/// What the three have in common: their weights, layer by layer and direction by direction.
template <typename Derived>
class RNNImplBase : public Cloneable<Derived> {
 public:
  explicit RNNImplBase(const RNNOptionsBase& options_base_) : options_base(options_base_) { RNNImplBase::reset(); }
  void reset() override {
    const RNNOptionsBase& o = options_base;
    TORCH_CHECK(0 <= o.dropout() && o.dropout() <= 1,
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed");
    if (o.dropout() > 0 && o.num_layers() == 1)
      TORCH_WARN("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                 "num_layers greater than 1, but got dropout=", o.dropout(), " and num_layers=", o.num_layers());
    TORCH_CHECK(o.hidden_size() > 0, "hidden_size must be positive");
    TORCH_CHECK(o.num_layers() > 0, "num_layers must be positive");
    TORCH_CHECK(0 <= o.proj_size() && o.proj_size() < o.hidden_size(),
                "proj_size has to be a positive integer, smaller than hidden_size or zero to disable projections");
    const int64_t gates = (o.mode().template is<enumtype::kLSTM>() ? 4 : o.mode().template is<enumtype::kGRU>() ? 3 : 1) *
                          o.hidden_size();
    names_.clear();
    for (int64_t layer = 0; layer < o.num_layers(); ++layer)
      for (const char* direction : {"", "_reverse"}) {
        if (*direction != '\0' && !o.bidirectional()) continue;
        const std::string suffix = "_l" + std::to_string(layer) + direction;
        const int64_t width = layer == 0 ? o.input_size() : output_size() * directions();
        add("weight_ih" + suffix, {gates, width});
        add("weight_hh" + suffix, {gates, output_size()});
        if (o.bias()) {
          add("bias_ih" + suffix, {gates});
          add("bias_hh" + suffix, {gates});
        }
        if (o.proj_size() > 0) add("weight_hr" + suffix, {o.proj_size(), o.hidden_size()});
      }
    reset_parameters();
  }
  void reset_parameters() {
    const double bound = 1.0 / std::sqrt(static_cast<double>(options_base.hidden_size()));
    for (Tensor& weight : this->parameters(false)) init::uniform_(weight, -bound, bound);
  }
  /// The weights are one after the other in memory only where a GPU wants them so.
  void flatten_parameters() {}
  std::vector<Tensor> all_weights() const { return flat_weights(); }
  std::vector<Tensor> flat_weights() const {
    std::vector<Tensor> weights;
    for (const std::string& name : names_) weights.push_back(this->parameters_[name]);
    return weights;
  }
  void pretty_print(std::ostream& stream) const override {
    const RNNOptionsBase& o = options_base;
    const std::string name = this->name();
    stream << std::boolalpha << name.substr(0, name.size() - 4) << "(input_size=" << o.input_size()
           << ", hidden_size=" << o.hidden_size() << ", num_layers=" << o.num_layers() << ", bias=" << o.bias()
           << ", batch_first=" << o.batch_first() << ", dropout=" << o.dropout()
           << ", bidirectional=" << o.bidirectional();
    if (o.proj_size() > 0) stream << ", proj_size=" << o.proj_size();
    stream << ')';
  }

  RNNOptionsBase options_base;

 protected:
  int64_t directions() const { return options_base.bidirectional() ? 2 : 1; }
  /// Features of the hidden state.
  int64_t output_size() const {
    return options_base.proj_size() > 0 ? options_base.proj_size() : options_base.hidden_size();
  }
  Tensor zero_state(const Tensor& input, int64_t batch, int64_t features) const {
    return at::zeros({options_base.num_layers() * directions(), batch, features}, input.options());
  }
  void check_state(const Tensor& state, int64_t batch, int64_t features, const char* what) const {
    const std::vector<int64_t> expected = {options_base.num_layers() * directions(), batch, features};
    TORCH_CHECK(state.sizes() == expected, "Expected ", what, " size ", IntArrayRef(expected), ", got ", state.sizes());
  }
  /// Output, hidden state, and of an LSTM the cell state. `batch_sizes` is undefined unless the input is packed.
  std::vector<Tensor> run(const Tensor& input, const Tensor& batch_sizes, std::vector<Tensor> state) const {
    const RNNOptionsBase& o = options_base;
    if (!batch_sizes.defined()) TORCH_CHECK(input.dim() == 3, "input must have 3 dimensions, got ", input.dim());
    TORCH_CHECK(input.size(-1) == o.input_size(), "input.size(-1) must be equal to input_size. Expected ",
                o.input_size(), ", got ", input.size(-1));
    const int64_t batch =
        batch_sizes.defined() ? batch_sizes[0].item<int64_t>() : input.size(o.batch_first() ? 0 : 1);
    const bool is_lstm = o.mode().template is<enumtype::kLSTM>();
    if (state.empty()) {
      state.push_back(zero_state(input, batch, output_size()));
      if (is_lstm) state.push_back(zero_state(input, batch, o.hidden_size()));
    } else {
      check_state(state[0], batch, output_size(), is_lstm ? "hidden[0]" : "hidden");
      if (is_lstm) check_state(state[1], batch, o.hidden_size(), "hidden[1]");
    }
    std::vector<int64_t> sizes;
    if (batch_sizes.defined())
      for (int64_t i = 0; i < batch_sizes.size(0); ++i) sizes.push_back(batch_sizes[i].item<int64_t>());
    static const guardfix::Op recurrent{"recurrent", "functional"};
    return guardfix::tensors_of(recurrent(
        {o.mode().text(), input, batch_sizes.defined() ? guardfix::Arg(sizes) : guardfix::Arg(std::nullopt), state,
         flat_weights(), o.bias(), o.num_layers(), o.dropout(), this->is_training(), o.bidirectional(),
         o.batch_first() && !batch_sizes.defined(), o.proj_size() > 0}));
  }
  static utils::rnn::PackedSequence packed_like(const utils::rnn::PackedSequence& input, Tensor data) {
    return utils::rnn::PackedSequence(std::move(data), input.batch_sizes(), input.sorted_indices(),
                                      input.unsorted_indices());
  }
  static Tensor in_order(const Tensor& state, const Tensor& indices) {
    return indices.defined() && state.defined() ? state.index_select(1, indices) : state;
  }

 private:
  void add(const std::string& name, std::vector<int64_t> sizes) {
    this->register_parameter(name, torch::empty(sizes));
    names_.push_back(name);
  }
  std::vector<std::string> names_;
};

/// RNN and GRU, which have one state.
template <typename Derived>
class OneStateRNNImpl : public RNNImplBase<Derived> {
 public:
  using RNNImplBase<Derived>::RNNImplBase;
  std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {}) {
    std::vector<Tensor> found = this->run(input, {}, hx.defined() ? std::vector<Tensor>{hx} : std::vector<Tensor>());
    return {found[0], found[1]};
  }
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, Tensor hx = {}) {
    hx = this->in_order(hx, input.sorted_indices());
    std::vector<Tensor> found =
        this->run(input.data(), input.batch_sizes(), hx.defined() ? std::vector<Tensor>{hx} : std::vector<Tensor>());
    return {this->packed_like(input, found[0]), this->in_order(found[1], input.unsorted_indices())};
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};

}  // namespace detail

class RNNImpl : public detail::OneStateRNNImpl<RNNImpl> {
 public:
  RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  explicit RNNImpl(const RNNOptions& options_)
      : OneStateRNNImpl(options_.nonlinearity().is<enumtype::kTanh>() ? detail::base_of(torch::kRNN_TANH, options_)
                                                                     : detail::base_of(torch::kRNN_RELU, options_)),
        options(options_) {}

  RNNOptions options;
};
TORCH_MODULE(RNN);

class GRUImpl : public detail::OneStateRNNImpl<GRUImpl> {
 public:
  GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(const GRUOptions& options_)
      : OneStateRNNImpl(detail::base_of(torch::kGRU, options_)), options(options_) {}

  GRUOptions options;
};
TORCH_MODULE(GRU);

class LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  using State = std::tuple<Tensor, Tensor>;
  LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(const LSTMOptions& options_)
      : RNNImplBase(detail::base_of(torch::kLSTM, options_).proj_size(options_.proj_size())), options(options_) {}
  /// The output, with the hidden and the cell state.
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx_opt = {}) {
    std::vector<Tensor> found = run(input, {}, as_list(hx_opt));
    return {found[0], State(found[1], found[2])};
  }
  std::tuple<utils::rnn::PackedSequence, State> forward_with_packed_input(const utils::rnn::PackedSequence& input,
                                                                         std::optional<State> hx_opt = {}) {
    std::vector<Tensor> state = as_list(hx_opt);
    for (Tensor& part : state) part = in_order(part, input.sorted_indices());
    std::vector<Tensor> found = run(input.data(), input.batch_sizes(), std::move(state));
    const Tensor& order = input.unsorted_indices();
    return {packed_like(input, found[0]), State(in_order(found[1], order), in_order(found[2], order))};
  }

  LSTMOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})

 private:
  static std::vector<Tensor> as_list(const std::optional<State>& state) {
    if (!state.has_value()) return {};
    return {std::get<0>(*state), std::get<1>(*state)};
  }
};
TORCH_MODULE(LSTM);

// ---- cells

namespace detail {

template <typename Derived, typename Options>
class RNNCellImplBase : public Cloneable<Derived> {
 public:
  void reset_parameters() {
    const double bound = 1.0 / std::sqrt(static_cast<double>(options.hidden_size()));
    for (Tensor& weight : this->parameters(false)) init::uniform_(weight, -bound, bound);
  }
  void reset() override {
    const int64_t rows = gates_ * options.hidden_size();
    weight_ih = this->register_parameter("weight_ih", torch::empty({rows, options.input_size()}));
    weight_hh = this->register_parameter("weight_hh", torch::empty({rows, options.hidden_size()}));
    bias_ih = this->register_parameter("bias_ih", options.bias() ? torch::empty(rows) : Tensor(), options.bias());
    bias_hh = this->register_parameter("bias_hh", options.bias() ? torch::empty(rows) : Tensor(), options.bias());
    reset_parameters();
  }

  Options options;
  Tensor weight_ih;
  Tensor weight_hh;
  Tensor bias_ih;
  Tensor bias_hh;

 protected:
  RNNCellImplBase(Options options_, int64_t gates) : options(std::move(options_)), gates_(gates) {
    RNNCellImplBase::reset();
  }
  void print(std::ostream& stream, const char* name) const {
    stream << "torch::nn::" << name << '(' << options.input_size() << ", " << options.hidden_size();
    if (!options.bias()) stream << ", bias=" << std::boolalpha << false;
  }
  Tensor zeros_for(const Tensor& input) const {
    std::vector<int64_t> sizes = {options.hidden_size()};
    if (input.dim() == 2) sizes.insert(sizes.begin(), input.size(0));
    return at::zeros(sizes, input.options());
  }
  std::vector<Tensor> run(const char* kind, const Tensor& input, const std::vector<Tensor>& state) const {
    TORCH_CHECK(input.dim() == 1 || input.dim() == 2, "Expected input to be 1D or 2D, got ", input.dim(), "D instead");
    TORCH_CHECK(input.size(-1) == options.input_size(), "input has inconsistent input_size: got ", input.size(-1),
                " expected ", options.input_size());
    for (const Tensor& part : state)
      TORCH_CHECK(part.size(-1) == options.hidden_size(), "hidden has inconsistent hidden_size: got ", part.size(-1),
                  ", expected ", options.hidden_size());
    static const guardfix::Op cell{"recurrent_cell", "functional"};
    return guardfix::tensors_of(
        cell({kind, input, state, std::vector<Tensor>{weight_ih, weight_hh, bias_ih, bias_hh}}));
  }

 private:
  int64_t gates_;
};

}  // namespace detail

class RNNCellImpl : public detail::RNNCellImplBase<RNNCellImpl, RNNCellOptions> {
 public:
  RNNCellImpl(int64_t input_size, int64_t hidden_size) : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(const RNNCellOptions& options_) : RNNCellImplBase(options_, 1) {}
  void pretty_print(std::ostream& stream) const override {
    print(stream, "RNNCell");
    if (!options.nonlinearity().is<enumtype::kTanh>()) stream << ", nonlinearity=" << options.nonlinearity().name();
    stream << ')';
  }
  Tensor forward(const Tensor& input, const Tensor& hx = {}) {
    return run(options.nonlinearity().is<enumtype::kTanh>() ? "rnn_tanh" : "rnn_relu", input,
               {hx.defined() ? hx : zeros_for(input)})[0];
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TORCH_MODULE(RNNCell);

class GRUCellImpl : public detail::RNNCellImplBase<GRUCellImpl, GRUCellOptions> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size) : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(const GRUCellOptions& options_) : RNNCellImplBase(options_, 3) {}
  void pretty_print(std::ostream& stream) const override {
    print(stream, "GRUCell");
    stream << ')';
  }
  Tensor forward(const Tensor& input, const Tensor& hx = {}) {
    return run("gru", input, {hx.defined() ? hx : zeros_for(input)})[0];
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())})
};
TORCH_MODULE(GRUCell);

class LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl, LSTMCellOptions> {
 public:
  using State = std::tuple<Tensor, Tensor>;
  LSTMCellImpl(int64_t input_size, int64_t hidden_size) : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(const LSTMCellOptions& options_) : RNNCellImplBase(options_, 4) {}
  void pretty_print(std::ostream& stream) const override {
    print(stream, "LSTMCell");
    stream << ')';
  }
  State forward(const Tensor& input, std::optional<State> hx_opt = {}) {
    const State state = hx_opt.value_or(State(zeros_for(input), zeros_for(input)));
    std::vector<Tensor> found = run("lstm", input, {std::get<0>(state), std::get<1>(state)});
    return {found[0], found[1]};
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(std::optional<State>())})
};
TORCH_MODULE(LSTMCell);

}  // namespace torch::nn
