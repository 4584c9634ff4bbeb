// torch::optim::LBFGS: limited-memory BFGS, with a line search that satisfies the strong Wolfe conditions on request.
#pragma once

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace torch::optim {

struct LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(int64_t, max_iter) = 20;
  TORCH_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  TORCH_ARG(double, tolerance_grad) = 1e-7;
  TORCH_ARG(double, tolerance_change) = 1e-9;
  TORCH_ARG(int64_t, history_size) = 100;
  TORCH_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;
  TORCH_FIELDS(LBFGSOptions, lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn)
};
struct LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
  TORCH_ARG(int64_t, func_evals) = 0;
  TORCH_ARG(int64_t, n_iter) = 0;
  TORCH_ARG(double, t) = 0;
  TORCH_ARG(double, prev_loss) = 0;
  TORCH_ARG(Tensor, d) = {};
  TORCH_ARG(Tensor, H_diag) = {};
  TORCH_ARG(Tensor, prev_flat_grad) = {};
  TORCH_ARG(std::deque<Tensor>, old_dirs);
  TORCH_ARG(std::deque<Tensor>, old_stps);
  TORCH_ARG(std::deque<Tensor>, ro);
  TORCH_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;
  TORCH_FIELDS(LBFGSParamState, func_evals, n_iter, t, prev_loss, d, H_diag, prev_flat_grad, old_dirs, old_stps, ro, al)
};

class LBFGS : public AlgorithmOf<LBFGSOptions, LBFGSParamState> {
 public:
  explicit LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults = {})
      : AlgorithmOf(param_groups, with_evaluations(std::move(defaults))) {
    TORCH_CHECK(param_groups_.size() == 1, "LBFGS doesn't support per-parameter options (parameter groups)");
  }
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {})
      : LBFGS({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure) override {
    const NoGradGuard no_grad;
    TORCH_CHECK(closure != nullptr, "LBFGS requires a closure function");
    auto& options = static_cast<LBFGSOptions&>(param_groups_[0].options());
    std::vector<Tensor>& parameters = param_groups_[0].params();
    const bool searches = options.line_search_fn().has_value();
    TORCH_CHECK(!searches || *options.line_search_fn() == "strong_wolfe", "only 'strong_wolfe' is supported");
    const int64_t max_eval = options.max_eval().value_or(options.max_iter() * 5 / 4);

    const Tensor first_loss = loss_of(closure);
    double loss = first_loss.item().toDouble();
    if (parameters.empty()) return first_loss;
    auto& state = state_of<LBFGSParamState>(parameters[0]);
    int64_t evaluations = 1;
    ++state.func_evals();
    Tensor gradient = flat_gradient();
    if (greatest(gradient) <= options.tolerance_grad()) return first_loss;

    for (int64_t iteration = 0; iteration < options.max_iter();) {
      ++iteration;
      ++state.n_iter();
      choose_direction(state, gradient, options.history_size());
      state.prev_flat_grad(gradient.clone());
      state.prev_loss(loss);
      state.t(state.n_iter() == 1 ? std::min(1., 1. / gradient.abs().sum().item().toDouble()) * options.lr()
                                  : options.lr());
      double slope = gradient.dot(state.d()).item().toDouble();
      if (slope > -options.tolerance_change()) break;
      int64_t now = 0;
      if (searches) {
        std::vector<Tensor> before;
        for (const Tensor& parameter : parameters) before.push_back(parameter.clone());
        const auto evaluate = [&](double t) {
          move(t, state.d());
          Point point{t, loss_of(closure).item().toDouble(), flat_gradient(), 0};
          for (size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(before[i]);
          point.slope = point.gradient.dot(state.d()).item().toDouble();
          return point;
        };
        const Point found = strong_wolfe(evaluate, {0, loss, gradient, slope}, state.t(), greatest(state.d()), now);
        loss = found.loss;
        gradient = found.gradient;
        state.t(found.t);
        move(found.t, state.d());
      } else {
        move(state.t(), state.d());
        if (iteration != options.max_iter()) {
          loss = loss_of(closure).item().toDouble();
          gradient = flat_gradient();
          now = 1;
        }
      }
      evaluations += now;
      state.func_evals(state.func_evals() + now);
      if (iteration == options.max_iter() || evaluations >= max_eval || greatest(gradient) <= options.tolerance_grad() ||
          greatest(state.d() * state.t()) <= options.tolerance_change() ||
          std::abs(loss - state.prev_loss()) < options.tolerance_change())
        break;
    }
    return first_loss;
  }

 private:
  /// A step length with the loss, the gradient, and the slope along the direction there.
  struct Point {
    double t, loss;
    Tensor gradient;
    double slope;
  };

  static std::unique_ptr<LBFGSOptions> with_evaluations(LBFGSOptions defaults) {
    if (!defaults.max_eval().has_value()) defaults.max_eval(defaults.max_iter() * 5 / 4);
    return std::make_unique<LBFGSOptions>(std::move(defaults));
  }
  static double greatest(const Tensor& values) { return values.abs().max().item().toDouble(); }

  Tensor flat_gradient() {
    std::vector<Tensor> parts;
    for (const Tensor& parameter : param_groups_[0].params()) {
      const Tensor grad = parameter.mutable_grad();
      parts.push_back(grad.defined() ? grad.reshape(-1) : at::zeros(parameter.numel(), parameter.options()));
    }
    return at::cat(parts, 0);
  }
  void move(double t, const Tensor& direction) {
    int64_t begin = 0;
    for (Tensor& parameter : param_groups_[0].params()) {
      const int64_t count = parameter.numel();
      parameter.add_(direction.slice(0, begin, begin + count).view_as(parameter), t);
      begin += count;
    }
  }

  /// The direction from the curvature of the last steps: the two-loop recursion.
  static void choose_direction(LBFGSParamState& state, const Tensor& gradient, int64_t history_size) {
    if (state.n_iter() == 1) {
      state.d(gradient.neg());
      state.H_diag(torch::tensor(1));
      return;
    }
    const Tensor y = gradient.sub(state.prev_flat_grad()), s = state.d().mul(state.t());
    const Tensor ys = y.dot(s);
    if (ys.item().toDouble() > 1e-10) {
      if (static_cast<int64_t>(state.old_dirs().size()) == history_size) {
        state.old_dirs().pop_front();
        state.old_stps().pop_front();
        state.ro().pop_front();
      }
      state.old_dirs().push_back(y);
      state.old_stps().push_back(s);
      state.ro().push_back(1. / ys);
      state.H_diag(ys / y.dot(y));
    }
    const size_t count = state.old_dirs().size();
    if (!state.al().has_value()) state.al(std::vector<Tensor>(static_cast<size_t>(history_size)));
    std::vector<Tensor>& al = *state.al();
    Tensor q = gradient.neg();
    for (size_t i = count; i-- > 0;) {
      al[i] = state.old_stps()[i].dot(q) * state.ro()[i];
      q.add_(state.old_dirs()[i] * -al[i]);
    }
    Tensor r = q * state.H_diag();
    for (size_t i = 0; i < count; ++i) {
      const Tensor be = state.old_dirs()[i].dot(r) * state.ro()[i];
      r.add_(state.old_stps()[i] * (al[i] - be));
    }
    state.d(r);
  }

  /// The least point of the cubic through two points and their slopes, within the bounds.
  static double cubic(const Point& a, const Point& b, std::optional<std::pair<double, double>> bounds = std::nullopt) {
    const auto [low, high] = bounds.value_or(std::make_pair(std::min(a.t, b.t), std::max(a.t, b.t)));
    const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
    const double square = d1 * d1 - a.slope * b.slope;
    if (!(square >= 0)) return (low + high) / 2.;
    const double d2 = std::sqrt(square);
    const double least = a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                                    : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
    return std::min(std::max(least, low), high);
  }

  template <typename Evaluate>
  static Point strong_wolfe(Evaluate&& evaluate, const Point& start, double t, double direction_norm,
                            int64_t& evaluations, double c1 = 1e-4, double c2 = 0.9, double tolerance_change = 1e-9,
                            int64_t max_ls = 25) {
    const auto falls = [&](const Point& p) { return p.loss <= start.loss + c1 * p.t * start.slope; };
    const auto is_flat = [&](const Point& p) { return std::abs(p.slope) <= -c2 * start.slope; };
    Point previous = start, current = evaluate(t);
    evaluations = 1;
    std::vector<Point> bracket;
    bool done = false;
    int64_t iteration = 0;
    // First a bracket: two step lengths between which there is a good one.
    while (iteration < max_ls) {
      if (!falls(current) || (iteration > 1 && current.loss >= previous.loss)) {
        bracket = {previous, current};
        break;
      }
      if (is_flat(current)) {
        bracket = {current};
        done = true;
        break;
      }
      if (current.slope >= 0) {
        bracket = {previous, current};
        break;
      }
      const double least = current.t + 0.01 * (current.t - previous.t), most = current.t * 10;
      const double next = cubic(previous, current, std::make_pair(least, most));
      previous = current;
      current = evaluate(next);
      ++evaluations;
      ++iteration;
    }
    if (iteration == max_ls) bracket = {start, current};
    if (done) return bracket[0];

    // Then it is narrowed.
    bool insufficient = false;
    size_t low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
    while (iteration < max_ls) {
      size_t high = 1 - low;
      if (std::abs(bracket[1].t - bracket[0].t) * direction_norm < tolerance_change) break;
      t = cubic(bracket[0], bracket[1]);
      const double least = std::min(bracket[0].t, bracket[1].t), most = std::max(bracket[0].t, bracket[1].t);
      const double margin = 0.1 * (most - least);
      if (std::min(most - t, t - least) < margin) {
        // Close to an end twice, or beyond it: a tenth away from that end.
        if (insufficient || t >= most || t <= least) {
          t = std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
          insufficient = false;
        } else {
          insufficient = true;
        }
      } else {
        insufficient = false;
      }
      current = evaluate(t);
      ++evaluations;
      ++iteration;
      if (!falls(current) || current.loss >= bracket[low].loss) {
        bracket[high] = current;
        low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
        continue;
      }
      if (is_flat(current)) {
        bracket[low] = current;
        break;
      }
      if (current.slope * (bracket[high].t - bracket[low].t) >= 0) bracket[high] = bracket[low];
      bracket[low] = current;
    }
    return bracket[low];
  }
};

}  // namespace torch::optim
