#include <torch/script.h>
#include <iostream>
int main() {
  c10::IValue i(3), d(2.5), b(true), s("text"), n;
  std::cout << i.isInt() << d.isDouble() << b.isBool() << s.isString() << n.isNone() << std::endl;
  std::cout << i.toInt() << ' ' << d.toDouble() << ' ' << b.toBool() << ' ' << s.toStringRef() << std::endl;
  std::cout << i << ' ' << d << ' ' << b << ' ' << n << std::endl;
  std::cout << i.tagKind() << ' ' << d.tagKind() << ' ' << s.tagKind() << std::endl;
  c10::IValue t(torch::ones({2}));
  std::cout << t.isTensor() << t.toTensor() << std::endl;
  auto tup = c10::ivalue::Tuple::create({torch::zeros({1}), 7, "x"});
  c10::IValue tv(tup);
  std::cout << tv.isTuple() << tv.toTuple()->elements().size() << tv.toTuple()->elements()[1].toInt() << std::endl;
  c10::List<at::Tensor> list;
  list.push_back(torch::ones({1}));
  list.push_back(torch::zeros({1}));
  c10::IValue lv(list);
  std::cout << lv.isTensorList() << lv.isList() << lv.toTensorList().size() << lv.toTensorVector().size() << std::endl;
  c10::List<int64_t> ints({1, 2, 3});
  std::cout << ints.size() << ints.get(1) << c10::IValue(ints).isIntList() << std::endl;
  for (int64_t v : ints) std::cout << v;
  std::cout << std::endl;
  c10::Dict<std::string, at::Tensor> dict;
  dict.insert("a", torch::ones({2}));
  dict.insert_or_assign("b", torch::zeros({2}));
  std::cout << dict.size() << dict.contains("a") << dict.contains("z") << dict.at("b") << std::endl;
  for (const auto& e : dict) std::cout << e.key() << ':' << e.value().sum().item<float>() << ' ';
  std::cout << std::endl;
  c10::IValue dv(dict);
  auto g = dv.toGenericDict();
  std::cout << dv.isGenericDict() << g.at("a").toTensor() << std::endl;
  c10::impl::GenericDict gd(c10::StringType::get(), c10::IntType::get());
  gd.insert("k", 5);
  std::cout << gd.at("k").toInt() << std::endl;
  list[0] = torch::full({1}, 5.0);
  list.emplace_back(torch::ones({2}));
  at::Tensor first = list[0];
  std::cout << first.item<float>() << list.get(1).item<float>() << list.size() << std::endl;
  ints[1] = 7;
  ints.pop_back();
  std::cout << ints.get(1) << (ints[0] == 1) << ints.vec().size() << ints.extract(0) << std::endl;
  std::cout << dict.erase("a") << dict.erase("a") << (dict.find("a") == dict.end()) << (dict.find("b") != dict.end()) << std::endl;
  try { i.toTensor(); } catch (const c10::Error& e) { std::cout << e.what_without_backtrace() << std::endl; }
  try { dict.at("zz"); } catch (const std::out_of_range& e) { std::cout << "out of range" << std::endl; } catch (const c10::Error& e) { std::cout << "c10" << std::endl; }
  std::tuple<int64_t, std::string> pair{1, "p"};
  c10::IValue pv(pair);
  std::cout << pv.isTuple() << std::get<1>(pv.to<std::tuple<int64_t, std::string>>()) << std::endl;
  c10::optional<int64_t> none;
  std::cout << c10::IValue(none).isNone() << c10::IValue(std::vector<int64_t>{1, 2}).toIntVector().size() << c10::IValue(std::vector<double>{1.5}).toDoubleVector()[0] << std::endl;
  std::cout << c10::IValue(torch::kFloat).toScalarType() << c10::IValue(at::Scalar(3)).isScalar() << c10::IValue(1.5).toScalar() << std::endl;
  const c10::IValue device(at::Device(at::kCPU));
  std::cout << device << device.isDevice() << device.tagKind() << int(device.toDevice().index()) << device.isString() << std::endl;
}
