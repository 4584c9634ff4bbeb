// How PyTorch was built: with none of the libraries that it can be built with.
#pragma once

#define AT_MKLDNN_ENABLED() 0
#define AT_MKL_ENABLED() 0
#define AT_MKL_SEQUENTIAL() 0
#define AT_PARALLEL_OPENMP_ENABLED() 0
