// torch::serialize::OutputArchive and InputArchive: tensors and values under names, in archives within archives.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <fstream>
#include <functional>
#include <istream>
#include <iterator>
#include <string>
#include <vector>

namespace torch::serialize {

namespace detail {

/// A dictionary of Python's with names of strings, and what is read and written there.
class Entries {
 public:
  Entries() {
    const guardfix::Gil gil;
    dict_ = guardfix::checked(PyDict_New(), "archive");
  }
  explicit Entries(guardfix::Object dict) : dict_(std::move(dict)) {}
  const guardfix::Object& object() const { return dict_; }

  void set(const std::string& key, const guardfix::Object& value) {
    const guardfix::Gil gil;
    if (PyDict_SetItemString(dict_.get(), key.c_str(), value ? value.get() : Py_None) != 0)
      guardfix::throw_python_error("archive");
  }
  /// Null when there is no such name.
  guardfix::Object get(const std::string& key) const {
    const guardfix::Gil gil;
    return guardfix::Object::borrow(PyDict_GetItemString(dict_.get(), key.c_str()));
  }
  std::vector<std::string> keys() const {
    const guardfix::Gil gil;
    std::vector<std::string> keys;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t position = 0; PyDict_Next(dict_.get(), &position, &key, &value) != 0;)
      keys.push_back(guardfix::text_of(key));
    return keys;
  }

 private:
  guardfix::Object dict_;
};

}  // namespace detail

class OutputArchive final {
 public:
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false) {
    (void)is_buffer;
    const guardfix::Gil gil;
    const guardfix::Object value = guardfix::Arg(tensor).python();
    entries_.set(key, value);
  }
  void write(const std::string& key, const c10::IValue& ivalue) { entries_.set(key, ivalue.object()); }
  void write(const std::string& key, OutputArchive& nested_archive) {
    entries_.set(key, nested_archive.entries_.object());
  }

  void save_to(const std::string& filename) {
    std::ofstream stream(filename, std::ios::binary);
    TORCH_CHECK(stream.is_open(), "open file failed, file path: ", filename);
    save_to(stream);
  }
  void save_to(std::ostream& stream) {
    const std::string bytes = this->bytes();
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void save_to(const std::function<size_t(const void*, size_t)>& func) {
    const std::string bytes = this->bytes();
    func(bytes.data(), bytes.size());
  }

 private:
  std::string bytes() const {
    const guardfix::Object made = guardfix::ask("archive_bytes", {entries_.object()});
    const guardfix::Gil gil;
    return guardfix::bytes_of(made.get());
  }
  detail::Entries entries_;
};

class InputArchive final {
 public:
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false) {
    (void)is_buffer;
    const guardfix::Object found = entries_.get(key);
    if (!found) return false;
    const Tensor stored = Tensor::from_python(found);
    if (tensor.defined()) {
      tensor.set_data(stored.data());
    } else {
      tensor = stored;
    }
    return true;
  }
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false) {
    TORCH_CHECK(try_read(key, tensor, is_buffer), "No such serialized tensor '", prefix_, key, "'");
  }
  bool try_read(const std::string& key, c10::IValue& ivalue) {
    const guardfix::Object found = entries_.get(key);
    if (found) ivalue = c10::IValue(found);
    return static_cast<bool>(found);
  }
  void read(const std::string& key, c10::IValue& ivalue) {
    TORCH_CHECK(try_read(key, ivalue), "No such serialized IValue '", prefix_, key, "'");
  }
  bool try_read(const std::string& key, InputArchive& archive) {
    const guardfix::Object found = entries_.get(key);
    if (!found) return false;
    archive.entries_ = detail::Entries(found);
    archive.prefix_ = prefix_ + key + ".";
    return true;
  }
  void read(const std::string& key, InputArchive& archive) {
    TORCH_CHECK(try_read(key, archive), "No such serialized submodule: '", prefix_, key, "'");
  }
  std::vector<std::string> keys() { return entries_.keys(); }

  // The device is the CPU: there is no other.
  void load_from(const std::string& filename, std::optional<Device> = std::nullopt) {
    std::ifstream stream(filename, std::ios::binary);
    TORCH_CHECK(stream.is_open(), "open file failed, file path: ", filename);
    load_from(stream);
  }
  void load_from(std::istream& stream, std::optional<Device> = std::nullopt) {
    const std::string bytes{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    load_from(bytes.data(), bytes.size());
  }
  void load_from(const char* data, size_t size, std::optional<Device> = std::nullopt) {
    const guardfix::Gil gil;
    entries_ = detail::Entries(guardfix::ask("archive_entries", {guardfix::bytes_from(data, size)}));
  }
  void load_from(const std::function<size_t(uint64_t pos, void* buf, size_t nbytes)>& read_func,
                 const std::function<size_t(void)>& size_func, std::optional<Device> = std::nullopt) {
    std::string bytes(size_func(), '\0');
    bytes.resize(read_func(0, bytes.data(), bytes.size()));
    load_from(bytes.data(), bytes.size());
  }

 private:
  detail::Entries entries_;
  std::string prefix_;
};

}  // namespace torch::serialize
