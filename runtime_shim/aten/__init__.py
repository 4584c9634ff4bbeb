"""The ops, by subject. Importing this package registers them all, and completes Tensor.

Every module that hands out tensors imports it, so that no tensor lacks its methods. Ops are found by location: each
module in this folder and its subfolders is imported, except those in LATE. The package is named after PyTorch's own
library of ops, since `torch.ops` is something else: the namespace of ops that programs define.
"""

import importlib
import pkgutil

from ..autograd import tensor_methods  # noqa: F401
from ..core import storage, tensor_printing  # noqa: F401
from ..core.function_table import FUNCTIONS
from ..core.supported_names import mark_unsupported
from ..core.tensor import Tensor
from ..dispatch import tensor_subclasses  # noqa: F401

#: Modules that only networks need, and the functions at whose first use they are imported. They would double the time
#: of the import; what is not named here is imported at once.
LATE = {
    "networks.adaptive_pooling": ("adaptive_avg_pool1d", "adaptive_max_pool1d"),
    "networks.dot_product_attention": (),
    "networks.convolution": (
        "convolution",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
    ),
    "matrices.einsum": ("einsum",),
    "networks.embedding": ("embedding", "dropout", "dropout_", "feature_dropout", "feature_dropout_"),
    "networks.losses": (),
    "networks.layer_normalization": ("layer_norm",),
    "networks.normalization": ("batch_norm", "group_norm", "instance_norm", "rms_norm"),
    "networks.pooling": ("max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool3d"),
    "networks.pooling_windows": ("avg_pool1d",),
    "spectral": (),
    "networks.unfolding": ("constant_pad_nd", "channel_shuffle", "pixel_shuffle", "pixel_unshuffle"),
}
LATE_FUNCTIONS = {function: module for module, functions in LATE.items() for function in functions}

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    if _module.name.removeprefix(f"{__name__}.") not in LATE:
        importlib.import_module(_module.name)

mark_unsupported()

__all__ = ["FUNCTIONS", "LATE", "LATE_FUNCTIONS", "Tensor"]
