#pragma once

#include <torch/csrc/jit/mobile/module.h>

#include <istream>
#include <optional>
#include <string>

namespace torch::jit {

inline mobile::Module _load_for_mobile(const std::string& filename, std::optional<at::Device> device = std::nullopt) {
  return mobile::Module(load(filename, device));
}
inline mobile::Module _load_for_mobile(const std::string& filename, std::optional<at::Device> device,
                                       ExtraFilesMap& extra_files) {
  return mobile::Module(load(filename, device, extra_files));
}
inline mobile::Module _load_for_mobile(std::istream& in, std::optional<at::Device> device = std::nullopt) {
  return mobile::Module(load(in, device));
}
inline mobile::Module _load_for_mobile(std::istream& in, std::optional<at::Device> device, ExtraFilesMap& extra_files) {
  return mobile::Module(load(in, device, extra_files));
}

}  // namespace torch::jit
