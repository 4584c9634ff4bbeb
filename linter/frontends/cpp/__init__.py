"""C++, CUDA and Objective-C++, read with tree-sitter."""
