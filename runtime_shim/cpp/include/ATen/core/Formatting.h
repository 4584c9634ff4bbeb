// Printing a tensor as PyTorch's C++ side does (which is not how its Python side does).
#pragma once

#include <ATen/core/Tensor.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <ostream>

namespace at {

namespace detail {

/// How the numbers of one matrix are set: one width, and either a common factor or an exponent each.
struct NumberFormat {
  int width = 0;
  double scale = 1;
  enum { integers, fixed, scientific } style = integers;

  NumberFormat(const double* values, size_t count) {
    double low = 0, high = 0;
    bool any = false, whole = true;
    for (size_t i = 0; i < count; ++i) {
      if (!std::isfinite(values[i])) continue;
      const double magnitude = std::fabs(values[i]);
      low = any ? std::fmin(low, magnitude) : magnitude;
      high = any ? std::fmax(high, magnitude) : magnitude;
      any = true;
      whole = whole && magnitude == std::ceil(magnitude);
    }
    const auto digits = [](double x) { return x == 0 ? 1 : static_cast<int>(std::floor(std::log10(x))) + 1; };
    const int least = digits(low), most = digits(high);
    const int exponent_width = std::abs(most) > 99 || std::abs(least) > 99 ? 12 : 11;
    if (whole) {
      style = most > 9 ? scientific : integers;
      width = most > 9 ? exponent_width : most + 1;
    } else if (most - least > 4) {
      style = scientific;
      width = exponent_width;
    } else {
      style = fixed;
      if (most > 5 || most < 0) {
        width = 7;
        scale = std::pow(10., most - 1);
      } else {
        width = most == 0 ? 7 : most + 6;
      }
    }
  }

  std::string number(double value) const {
    char text[64];
    const char* const form = style == integers ? "%*g" : style == fixed ? "%*.4f" : "%*.4e";
    std::snprintf(text, sizeof text, form, width, value / scale);
    return text;
  }
};

/// The shortest text that reads back as `value`.
inline std::string shortest(double value) {
  char text[64];
  int precision = 1;
  for (; precision < 17; ++precision) {
    std::snprintf(text, sizeof text, "%.*e", precision - 1, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  const int exponent = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (std::isfinite(value) && exponent >= -4 && exponent < 16)
    std::snprintf(text, sizeof text, "%.*f", std::max(0, precision - 1 - exponent), value);
  else
    std::snprintf(text, sizeof text, "%.*e", precision - 1, value);
  return text;
}

inline void print_matrix(std::ostream& out, const double* values, int64_t rows, int64_t columns, int64_t line_size,
                         int indent) {
  const NumberFormat format(values, static_cast<size_t>(rows * columns));
  const std::string margin(static_cast<size_t>(indent), ' ');
  const int64_t per_line = std::max<int64_t>(1, (line_size - indent) / (format.width + 1));
  for (int64_t first = 0; first < columns; first += per_line) {
    const int64_t last = std::min(first + per_line, columns) - 1;
    if (per_line < columns) {
      if (first != 0) out << '\n';
      out << "Columns " << first + 1 << " to " << last + 1 << margin;
    }
    if (format.scale != 1) out << shortest(format.scale) << " *\n" << margin;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = first; column <= last; ++column)
        out << format.number(values[row * columns + column]) << (column == last ? "\n" : " ");
      if (row != rows - 1) out << margin << (format.scale != 1 ? " " : "");
    }
  }
}

/// The matrices of a tensor of three and more dimensions, the first index moving fastest.
inline void print_slices(std::ostream& out, const double* values, IntArrayRef sizes, int64_t line_size) {
  const size_t outer = sizes.size() - 2;
  const int64_t rows = sizes[outer], columns = sizes[outer + 1];
  std::vector<int64_t> at(outer, 0);
  for (bool start = true;; start = false) {
    if (!start) out << '\n';
    out << '(';
    int64_t offset = 0;
    for (size_t d = 0; d < outer; ++d) {
      out << at[d] + 1 << ',';
      offset = offset * sizes[d] + at[d];
    }
    out << ".,.) = \n";
    print_matrix(out, values + offset * rows * columns, rows, columns, line_size, 1);
    size_t d = 0;
    for (; d < outer; ++d) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
    if (d == outer) return;
  }
}

}  // namespace detail

inline std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t line_size) {
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  static const guardfix::Hook read{"values"};
  std::vector<double> values;
  {
    const guardfix::Object list = read({tensor});
    const guardfix::Gil gil;
    const guardfix::Object fast = guardfix::checked(PySequence_Fast(list.get(), "values"), "print");
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i)
      values.push_back(guardfix::as_real(PySequence_Fast_GET_ITEM(fast.get(), i), "print"));
  }
  const IntArrayRef sizes = tensor.sizes();
  if (sizes.empty()) {
    out << detail::shortest(values[0]) << '\n';
  } else if (sizes.size() == 1 && !values.empty()) {
    const detail::NumberFormat format(values.data(), values.size());
    if (format.scale != 1) out << detail::shortest(format.scale) << " *\n";
    for (double value : values) out << format.number(value) << '\n';
  } else if (sizes.size() == 2 && !values.empty()) {
    detail::print_matrix(out, values.data(), sizes[0], sizes[1], line_size, 0);
  } else if (!values.empty()) {
    detail::print_slices(out, values.data(), sizes, line_size);
  }
  out << "[ " << tensor.toString() << '{';
  for (size_t d = 0; d < sizes.size(); ++d) out << (d == 0 ? "" : ",") << sizes[d];
  return out << "} ]";
}

inline std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return print(out, tensor, 80); }
inline void print(const Tensor& tensor, int64_t line_size = 80) { print(std::cout, tensor, line_size); }

inline void Tensor::print() const {
  if (defined()) {
    std::cerr << '[' << toString() << ' ' << sizes() << "]\n";
  } else {
    std::cerr << "[UndefinedTensor]\n";
  }
}

}  // namespace at
