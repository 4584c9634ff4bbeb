// ska::flat_hash_map, by which PyTorch's interface names the standard's map.
#pragma once

#include <unordered_map>

namespace ska {

template <typename Key, typename Value>
using flat_hash_map = std::unordered_map<Key, Value>;

}  // namespace ska
