"""The C++ front end: bytes of a C++, CUDA or Objective-C++ file -> facts."""
