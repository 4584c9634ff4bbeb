// Datasets, samplers, transforms and loaders.
#pragma once

#include <torch/data/dataloader.h>
#include <torch/data/datasets.h>
#include <torch/data/example.h>
#include <torch/data/samplers.h>
#include <torch/data/transforms.h>

namespace torch::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace torch::data
