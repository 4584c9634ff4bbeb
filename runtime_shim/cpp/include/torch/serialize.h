// torch::save and torch::load, for tensors, modules and optimizers.
#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize/archive.h>

namespace torch {

namespace serialize {

inline OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}
inline InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

}  // namespace serialize

/// Writes `value` to a file by its name, to a stream, or by a function that takes bytes.
template <typename Value, typename... SaveToArgs>
void save(const Value& value, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<SaveToArgs>(args)...);
}
template <typename... SaveToArgs>
void save(const std::vector<Tensor>& tensors, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  archive.save_to(std::forward<SaveToArgs>(args)...);
}
/// Reads what `save` wrote into `value`, from a file by its name, a stream, or memory.
template <typename Value, typename... LoadFromArgs>
void load(Value& value, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  archive >> value;
}
template <typename... LoadFromArgs>
void load(std::vector<Tensor>& tensors, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  for (size_t i = 0;; ++i) {
    Tensor tensor;
    if (!archive.try_read(std::to_string(i), tensor)) break;
    tensors.push_back(std::move(tensor));
  }
}

/// A value as bytes, and back.
inline std::vector<char> pickle_save(const c10::IValue& ivalue) {
  std::vector<char> bytes;
  serialize::OutputArchive archive;
  archive.write("0", ivalue);
  archive.save_to([&](const void* data, size_t size) {
    const char* begin = static_cast<const char*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
    return size;
  });
  return bytes;
}
inline c10::IValue pickle_load(const std::vector<char>& data) {
  serialize::InputArchive archive;
  archive.load_from(data.data(), data.size());
  c10::IValue value;
  archive.read("0", value);
  return value;
}

}  // namespace torch
