// Runs the statements of drawn programs and prints what can be seen of their variables. See the package's docstring.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;
using torch::indexing::None;
using torch::indexing::Slice;

constexpr int VARIABLES = 8;
using Variables = at::Tensor[VARIABLES];

std::set<int> left_out;  // statements that shrinking leaves out
int statement_number = 0;
std::string seen[VARIABLES];

struct Square : public Function<Square> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * 2 * ctx->get_saved_variables()[0]};
  }
};

struct AddsOne : public Function<AddsOne> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    x.add_(1);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

struct BelowAutograd : public Function<BelowAutograd> {
  static Variable forward(AutogradContext*, Variable x) {
    at::AutoDispatchBelowADInplaceOrView guard;
    return x.mul(3);
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 3}; }
};

struct TwoResults : public Function<TwoResults> {
  static variable_list forward(AutogradContext* ctx, Variable x) {
    auto sign = x > 0;
    ctx->mark_non_differentiable({sign});
    return {x * 2, sign};
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

template <typename F>
std::string attempt(F&& read) {
  try {
    std::ostringstream out;
    out << read();
    return out.str();
  } catch (const c10::Error& error) {
    return "!" + first_line(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return "!" + first_line(error.what());
  }
}

std::string values_of(const at::Tensor& tensor) {
  c10::InferenceMode guard;  // so that copies leave no trace
  const auto flat = tensor.detach().to(at::kDouble).contiguous().view(-1);
  std::string text;
  char number[32];
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const double value = flat.data_ptr<double>()[i];
    std::snprintf(number, sizeof number, " %.9g", value);
    text += std::isnan(value) ? " nan" : number;  // whose sign says nothing
  }
  return text;
}

template <typename NodePointer>
std::string edges_of(const NodePointer& node, int depth) {
  if (!node) return "-";
  std::string text = node->name();
  if (depth == 0 || node->next_edges().empty()) return text;
  text += "(";
  for (const auto& edge : node->next_edges()) text += edges_of(edge.function, depth - 1) + ",";
  return text + ")";
}

std::string look(const at::Tensor& tensor, bool with_grad = true) {
  if (!tensor.defined()) return "undefined";
  std::ostringstream out;
  out << tensor.scalar_type() << " " << tensor.sizes() << " strides " << attempt([&] { return tensor.strides(); })
      << " from " << attempt([&] { return tensor.storage_offset(); }) << " inference "
      << attempt([&] { return tensor.is_inference(); }) << " requires " << attempt([&] { return tensor.requires_grad(); })
      << " leaf " << attempt([&] { return tensor.is_leaf(); }) << " view " << attempt([&] { return tensor.is_view(); })
      << " version " << (with_grad ? attempt([&] { return tensor._version(); }) : "") << " node "
      << attempt([&] { return with_grad ? edges_of(tensor.grad_fn(), 2) : std::string(); }) << " values "
      << attempt([&] { return values_of(tensor); });
  if (with_grad && tensor.is_leaf()) out << " grad " << attempt([&] { return look(tensor.grad(), false); });
  return out.str();
}

void see_all(Variables& v) {
  for (int i = 0; i < VARIABLES; ++i) {
    const auto now = attempt([&] { return look(v[i]); });
    if (now != seen[i]) std::cout << "  v[" << i << "] " << now << "\n";
    seen[i] = now;
  }
  std::cout << "  modes " << at::GradMode::is_enabled() << c10::InferenceMode::is_enabled() << "\n";
}

template <typename F>
void note(F&& read) {
  std::cout << "  value " << read() << "\n";
}

bool wanted() { return left_out.count(statement_number++) == 0; }

template <typename F>
void run(Variables& v, F&& statement) {
  const int number = statement_number;
  if (!wanted()) return;
  std::string outcome = "ok";
  try {
    statement();
  } catch (const c10::Error& error) {
    outcome = "c10::Error: " + first_line(error.what_without_backtrace());
  } catch (const std::exception& error) {
    outcome = "std::exception: " + first_line(error.what());
  }
  std::cout << number << " " << outcome << "\n";
  see_all(v);
  std::cout << std::flush;
}

#define S(...) run(v, [&] { __VA_ARGS__; });

// A guard that shrinking may leave out; it lasts until the end of its block.
#define GUARD(name, type, ...)     \
  std::optional<type> name;        \
  if (wanted()) name.emplace(__VA_ARGS__);

struct Program {
  int seed;
  void (*body)(Variables&);
};

// Arguments: the first program to run, the last, then the statements that are left out. A "/" runs them once more,
// without the statements behind it.
int run_programs(const std::vector<Program>& programs, int argc, char** argv) {
  const int first = argc > 1 ? std::atoi(argv[1]) : 0;
  const int last = argc > 2 ? std::atoi(argv[2]) : static_cast<int>(programs.size()) - 1;
  int argument = 3;
  do {
    left_out.clear();
    for (; argument < argc && std::string(argv[argument]) != "/"; ++argument) left_out.insert(std::atoi(argv[argument]));
    ++argument;
    for (int i = first; i <= last; ++i) {
      statement_number = 0;
      for (auto& text : seen) text = "undefined";
      std::cout << "=== " << programs[i].seed << std::endl;
      Variables v;
      programs[i].body(v);
    }
  } while (argument < argc);
  return 0;
}
