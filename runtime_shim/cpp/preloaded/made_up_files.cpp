// Files of data that a program reads and that are missing are made up: images, folders of images, CIFAR-10, MNIST, texts
// and tables. For programs that are only run to see what they do.
//
// This library is preloaded, and does nothing until guardfix_make_up_files is called or, in a program of its own, the
// environment names a folder. From then on a file that can't be found is looked for in that folder, under its whole path,
// and made there if its name says what it holds. What was made up is listed in the folder's file `list`.

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <vector>

namespace {

enum class Want { kFile, kFolder, kStatus, kWriting };

std::string* g_folder = nullptr;  // where files are made up; null while this is switched off
bool g_whole = false;             // the MNIST set is as large as the real one
thread_local bool t_busy = false;

template <typename F>
F real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

int real_open(const std::string& path, int flags) {
  static const auto function = real<int (*)(const char*, int, ...)>("open64");
  return function(path.c_str(), flags | O_CLOEXEC, 0666);
}

bool is_there(const std::string& path) {
  static const auto function = real<int (*)(const char*, int)>("access");
  return function(path.c_str(), F_OK) == 0;
}

/// The path from the root, without `.` and `..`. Backslashes part names too: programs bring paths of other systems.
std::string whole_path(const char* given) {
  std::string path = given;
  for (char& letter : path)
    if (letter == '\\') letter = '/';
  if (path.empty() || path[0] != '/') {
    char here[4096];
    if (!getcwd(here, sizeof here)) return "";
    path = std::string(here) + "/" + path;
  }
  std::vector<std::string> parts;
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string part = path.substr(start, end - start);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    start = end + 1;
  }
  std::string result;
  for (const auto& part : parts) result += "/" + part;
  return result;
}

void make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    mkdir(path.substr(0, at).c_str(), 0777);
  mkdir(path.c_str(), 0777);
}

/// Numbers that are the same in each run.
struct Numbers {
  uint32_t state;
  uint32_t next(uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return static_cast<uint32_t>((uint64_t(state) * below) >> 32);
  }
};

void put(const std::string& path, const std::string& data) {
  const int file = real_open(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file < 0) return;
  for (size_t done = 0; done < data.size();) {
    const ssize_t written = write(file, data.data() + done, data.size() - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  close(file);
}

std::string little(uint32_t number, int bytes) {
  std::string result;
  for (int i = 0; i < bytes; ++i) result += static_cast<char>(number >> 8 * i);
  return result;
}

std::string big(uint32_t number) {
  const std::string turned = little(number, 4);
  return {turned.rbegin(), turned.rend()};
}

/// A bitmap of 64 times 64 points. Libraries that read images go by the content, not by the name.
std::string image(Numbers numbers) {
  const uint32_t side = 64, size = 3 * side * side;
  std::string data = "BM" + little(54 + size, 4) + little(0, 4) + little(54, 4) + little(40, 4) + little(side, 4) +
                     little(side, 4) + little(1, 2) + little(24, 2) + little(0, 4) + little(size, 4) +
                     little(2835, 4) + little(2835, 4) + little(0, 4) + little(0, 4);
  for (uint32_t i = 0; i < size; ++i) data += static_cast<char>((i / 3 % side) * 2 + numbers.next(128));
  return data;
}

std::string text(Numbers numbers) {
  static const char* const kParts[] = {"ba", "do", "ki", "lu", "me", "na", "po", "ri", "sa", "tu"};
  std::string data;
  for (int line = 0; line < 1000; ++line) {
    for (uint32_t words = 4 + numbers.next(9); words; --words) {
      // Few words are frequent and many are rare, as in real texts.
      const uint32_t word = numbers.next(1 + numbers.next(1 + numbers.next(1000)));
      data += std::string(kParts[word / 100 % 10]) + kParts[word / 10 % 10] + kParts[word % 10];
      data += words > 1 ? " " : "\n";
    }
  }
  return data;
}

/// Rows of four numbers and a label.
std::string table(Numbers numbers, char between) {
  std::string data;
  for (int row = 0; row < 200; ++row) {
    for (int column = 0; column < 4; ++column) data += "0." + std::to_string(100 + numbers.next(900)) + between;
    data += std::to_string(numbers.next(2)) + "\n";
  }
  return data;
}

/// 10,000 examples: a label and three planes of 32 times 32 points.
std::string cifar(Numbers numbers) {
  std::string data;
  data.reserve(30730000);
  for (int example = 0; example < 10000; ++example) {
    data += static_cast<char>(numbers.next(10));
    for (int i = 0; i < 3072; ++i) data += static_cast<char>(numbers.next(256));
  }
  return data;
}

/// 400 digits, for batches of 100 come out even with the real set, too.
std::string digits(Numbers numbers, const std::string& name) {
  const bool images = name.find("images") != std::string::npos;
  const uint32_t count = !g_whole ? 400 : name.rfind("train", 0) == 0 ? 60000 : 10000;
  std::string data = big(images ? 2051 : 2049) + big(count);
  if (images) data += big(28) + big(28);
  const uint32_t bytes = images ? count * 784 : count;
  data.reserve(data.size() + bytes);
  for (uint32_t i = 0; i < bytes; ++i) data += static_cast<char>(numbers.next(images ? 256 : 10));
  return data;
}

bool ends_with_one_of(const std::string& name, std::initializer_list<const char*> endings) {
  for (const char* ending : endings) {
    const size_t length = strlen(ending);
    if (name.size() > length && strcasecmp(name.c_str() + name.size() - length, ending) == 0) return true;
  }
  return false;
}

/// What a file of this name holds; empty if the name doesn't say.
const char* kind_of(const std::string& name) {
  if (name == "test_batch.bin" || (name.rfind("data_batch_", 0) == 0 && ends_with_one_of(name, {".bin"}))) {
    return "CIFAR-10";
  }
  if (ends_with_one_of(name, {"-images-idx3-ubyte", "-labels-idx1-ubyte"})) return "the MNIST set";
  if (ends_with_one_of(name, {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".webp", ".tif", ".tiff"})) return "an image";
  if (ends_with_one_of(name, {".csv", ".tsv"})) return "a table of numbers";
  if (ends_with_one_of(name, {".txt"})) return "a text";
  return "";
}

void note(const char* kind, const char* asked) {
  const int file = real_open(*g_folder + "/list", O_WRONLY | O_CREAT | O_APPEND);
  if (file < 0) return;
  const std::string line = std::string(kind) + "\t" + asked + "\n";
  if (write(file, line.data(), line.size()) < 0) errno = 0;
  close(file);
}

Numbers numbers_of(const std::string& name) {
  uint32_t hash = 2166136261u;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return {hash};
}

void make_file(const std::string& kind, const std::string& place, const std::string& name) {
  const Numbers numbers = numbers_of(name);
  put(place, kind == "CIFAR-10"             ? cifar(numbers)
             : kind == "the MNIST set"      ? digits(numbers, name)
             : kind == "an image"           ? image(numbers)
             : kind == "a table of numbers" ? table(numbers, name.back() == 'v' && name[name.size() - 3] == 't' ? '\t' : ',')
                                            : text(numbers));
}

/// Images of two classes in folders of their own; and eight images beside these, for programs that take one folder as one
/// class.
void make_image_folder(const std::string& place) {
  for (const char* part : {"", "/class_0", "/class_1"}) {
    make_folders(place + part);
    for (int i = 0; i < 8; ++i) {
      const std::string name = std::string(part) + "/image_" + std::to_string(i) + ".jpg";
      put(place + name, image(numbers_of(name)));
    }
  }
}

/// The path to take instead of one that is not there; empty if there is none. `errno` stays as it was.
std::string instead_of(const char* path, Want want) {
  const int error = errno;
  if (!g_folder || t_busy || (error != ENOENT && error != ENOTDIR) || !path) return "";
  static std::mutex mutex;
  t_busy = true;
  std::string result;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const std::string whole = whole_path(path);
    const std::string name = whole.substr(whole.rfind('/') + 1);
    const std::string place = *g_folder + whole;
    bool ours = whole.rfind(*g_folder, 0) != 0;
    for (const char* system : {"/proc/", "/sys/", "/dev/", "/etc/", "/usr/", "/lib", "/run/", "/var/"})
      ours = ours && whole.rfind(system, 0) != 0;
    // Where the interpreter looks for modules.
    for (const char* part : {"site-packages", "/lib/python", "__pycache__"})
      ours = ours && whole.find(part) == std::string::npos;
    if (whole.empty() || !ours) {
    } else if (want == Want::kWriting) {
      if (is_there(place.substr(0, place.rfind('/')))) result = place;  // into a folder that was made up
    } else if (is_there(place)) {
      result = place;
    } else if (want == Want::kFolder && name.find('.') == std::string::npos) {
      make_image_folder(place);
      note("a folder of images", path);
      result = place;
    } else if (const char* kind = kind_of(name); *kind) {
      make_folders(place.substr(0, place.rfind('/')));
      make_file(kind, place, name);
      note(kind, path);
      result = place;
    }
  }
  t_busy = false;
  errno = error;
  return result;
}

Want wanted(int flags) {
  if (flags & (O_CREAT | O_WRONLY | O_RDWR)) return Want::kWriting;
  return flags & O_DIRECTORY ? Want::kFolder : Want::kFile;
}

__attribute__((constructor)) void begin() {
  if (const char* folder = getenv("GUARDFIX_MADE_UP_FILES")) {
    g_folder = new std::string(folder);
    g_whole = true;
    unsetenv("GUARDFIX_MADE_UP_FILES");
  }
}

}  // namespace

extern "C" {

/// From now on missing files are made up in `folder`.
void guardfix_make_up_files(const char* folder) { g_folder = new std::string(folder); }

#define OPEN(NAME)                                                                            \
  int NAME(const char* path, int flags, ...) {                                                \
    static const auto function = real<int (*)(const char*, int, ...)>(#NAME);                 \
    va_list rest;                                                                             \
    va_start(rest, flags);                                                                    \
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;             \
    va_end(rest);                                                                             \
    const int file = function(path, flags, mode);                                             \
    if (file >= 0) return file;                                                               \
    const std::string other = instead_of(path, wanted(flags));                                \
    return other.empty() ? file : function(other.c_str(), flags, mode);                       \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(NAME)                                                                          \
  int NAME(int folder, const char* path, int flags, ...) {                                    \
    static const auto function = real<int (*)(int, const char*, int, ...)>(#NAME);            \
    va_list rest;                                                                             \
    va_start(rest, flags);                                                                    \
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;             \
    va_end(rest);                                                                             \
    const int file = function(folder, path, flags, mode);                                     \
    if (file >= 0 || folder != AT_FDCWD) return file;                                         \
    const std::string other = instead_of(path, wanted(flags));                                \
    return other.empty() ? file : function(folder, other.c_str(), flags, mode);               \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(NAME)                                                                           \
  FILE* NAME(const char* path, const char* mode) {                                            \
    static const auto function = real<FILE* (*)(const char*, const char*)>(#NAME);            \
    FILE* file = function(path, mode);                                                        \
    if (file) return file;                                                                    \
    const std::string other = instead_of(path, strpbrk(mode, "wa+") ? Want::kWriting : Want::kFile); \
    return other.empty() ? file : function(other.c_str(), mode);                              \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define STAT(NAME, STRUCT)                                                                    \
  int NAME(const char* path, struct STRUCT* result) {                                         \
    static const auto function = real<int (*)(const char*, struct STRUCT*)>(#NAME);           \
    const int status = function(path, result);                                                \
    if (status == 0) return status;                                                           \
    const std::string other = instead_of(path, Want::kStatus);                                \
    return other.empty() ? status : function(other.c_str(), result);                          \
  }
STAT(stat, stat)
STAT(lstat, stat)
STAT(stat64, stat64)
STAT(lstat64, stat64)

int access(const char* path, int mode) {
  static const auto function = real<int (*)(const char*, int)>("access");
  const int status = function(path, mode);
  if (status == 0) return status;
  const std::string other = instead_of(path, Want::kStatus);
  return other.empty() ? status : function(other.c_str(), mode);
}

DIR* opendir(const char* path) {
  static const auto function = real<DIR* (*)(const char*)>("opendir");
  DIR* folder = function(path);
  if (folder) return folder;
  const std::string other = instead_of(path, Want::kFolder);
  return other.empty() ? folder : function(other.c_str());
}
}
