// IValue, List and Dict.
#include <torch/script.h>

#include <iostream>

int main() {
  const torch::IValue tensor(torch::ones({2})), number(3), real(2.5), yes(true), text("text"), nothing;
  for (const auto& value : {tensor, number, real, yes, text, nothing})
    std::cout << value.tagKind() << " " << value.isTensor() << value.isInt() << value.isDouble() << value.isBool()
              << value.isString() << value.isNone() << value.isScalar() << "\n";
  std::cout << tensor.toTensor().sizes() << number.toInt() << real.toDouble() << yes.toBool() << text.toStringRef()
            << number.toScalar() << nothing.toOptional<int64_t>().has_value() << number.to<int64_t>() << "\n";
  const torch::IValue integers(std::vector<int64_t>{1, 2, 3}), tuple(std::make_tuple(1, torch::zeros({1})));
  std::cout << integers.isList() << integers.isIntList() << integers.toIntVector().size() << tuple.isTuple()
            << tuple.toTuple()->elements().size() << tuple.toTuple()->elements()[1].toTensor().sizes() << "\n";
  c10::List<int64_t> list({4, 5});
  list.push_back(6);
  const c10::List<int64_t> same = list;
  list.set(0, 40);
  int64_t sum = 0;
  for (const int64_t n : list) sum += n;
  std::cout << same.size() << same.get(0) << " " << sum << " " << torch::IValue(list) << "\n";
  c10::Dict<std::string, int64_t> dict;
  dict.insert("one", 1);
  dict.insert_or_assign("two", 2);
  dict.insert("one", 10);
  for (const auto& entry : dict) std::cout << entry.key() << "=" << entry.value() << " ";
  std::cout << dict.size() << dict.contains("two") << dict.at("one") << "\n";
  const at::Tensor row = torch::ones({2, 1});
  std::cout << c10::Scalar(c10::SymInt(4)) << c10::Scalar(row.sym_size(0)).isIntegral(false)
            << row.is_same_size(torch::ones({2})) << row.is_same_size(torch::zeros({2, 1}, torch::kLong))
            << row.toBackend(at::Backend::CPU).is_same(row) << "\n";
  const std::unordered_map<std::string, int64_t> map{{"three", 3}};
  const torch::IValue from_map(map);
  std::cout << from_map.isGenericDict() << from_map.to<std::unordered_map<std::string, int64_t>>().at("three")
            << c10::impl::toTypedDict<std::string, int64_t>(from_map.toGenericDict()).at("three") << "\n";
  torch::jit::Stack stack;
  torch::jit::push(stack, 1, row, "two");
  std::cout << torch::jit::peek(stack, 0, 3).toInt() << torch::jit::last(stack, 2).size();
  int64_t first = 0;
  at::Tensor second;
  torch::jit::drop(stack, 1);
  torch::jit::pop(stack, first, second);
  std::cout << first << second.is_same(row) << stack.size() << "\n";
}
