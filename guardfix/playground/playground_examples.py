"""Texts to begin with on the page."""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """A text that the page offers."""

    title: str
    language: str
    text: str
    error: bool = False
    """The title is the error that the program ends with."""


EXAMPLES = (
    Example(
        "A kernel with the old guard (C++)",
        "cpp",
        """#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor scale(const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard;
  return at::mul(x, 2);
}

TORCH_LIBRARY_IMPL(my, Autograd, m) {
  m.impl("scale", scale);
}
""",
    ),
    Example(
        "A model that is run (C++)",
        "cpp",
        """#include <torch/script.h>

int main(int argc, char** argv) {
  torch::jit::script::Module model = torch::jit::load(argv[1]);
  model.eval();
  at::AutoNonVariableTypeMode non_var(true);
  auto scores = model.forward({torch::ones({1, 3, 224, 224})}).toTensor();
  return scores.argmax(1).item<int>() == 0;
}
""",
    ),
    Example(
        "A guard that ends at once (C++)",
        "cpp",
        """#include <torch/torch.h>

torch::Tensor evaluate(const torch::Tensor& x) {
  torch::NoGradGuard();
  return x.relu();
}
""",
    ),
    Example(
        "Nothing says what it is for (C++)",
        "cpp",
        """#include <ATen/ATen.h>

void helper(at::Tensor x) {
  at::AutoNonVariableTypeMode guard;
  x.add_(1);
}
""",
    ),
    Example(
        "Guards that aren't entered (Python)",
        "python",
        """import torch


def predict(model, x):
    with torch.no_grad:
        return model(x)


def evaluate(model, x):
    torch.no_grad()
    return model(x)
""",
    ),
    Example(
        "Inference tensors cannot be saved for backward (Python)",
        "python",
        """import torch

weight = torch.ones(2, requires_grad=True)
with torch.inference_mode():
    features = torch.ones(2) * 3
loss = (weight * features).sum()
loss.backward()
""",
        error=True,
    ),
    Example(
        "Inplace update to inference tensor outside InferenceMode (C++)",
        "cpp",
        """#include <torch/torch.h>

torch::Tensor predict(const torch::Tensor& x) {
  at::AutoNonVariableTypeMode guard;
  return x.matmul(x.t());
}

int main() {
  torch::Tensor scores = predict(torch::ones({2, 2}));
  scores.mul_(2);
}
""",
        error=True,
    ),
    Example(
        "element 0 of tensors does not require grad (Python)",
        "python",
        """import torch

weight = torch.ones(2, requires_grad=True)
with torch.no_grad():
    loss = (weight * 2).sum()
loss.backward()
""",
        error=True,
    ),
)
