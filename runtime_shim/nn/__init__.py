"""`torch.nn`."""

from __future__ import annotations

from typing import Any

from . import functional, init, utils
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .conv_layers import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Bilinear,
    Embedding,
    EmbeddingBag,
    GroupNorm,
    Identity,
    LayerNorm,
    Linear,
)
from .module import Module
from .parameter import Buffer, Parameter
from .weightless_layers import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AvgPool1d,
    AvgPool2d,
    BCELoss,
    BCEWithLogitsLoss,
    ConstantPad2d,
    CrossEntropyLoss,
    Dropout,
    Dropout2d,
    Flatten,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    MaxPool1d,
    MaxPool2d,
    Mish,
    MSELoss,
    NLLLoss,
    ReflectionPad2d,
    ReLU,
    ReLU6,
    ReplicationPad2d,
    Sigmoid,
    SiLU,
    SmoothL1Loss,
    Softmax,
    Softmin,
    Softplus,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
    Unflatten,
    Upsample,
    ZeroPad2d,
)

#: Layers that are imported when they are asked for, by module.
_LATE = {
    **dict.fromkeys(
        (
            "AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool3d "
            "ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad3d "
            "CosineSimilarity Dropout1d Dropout3d Fold "
            "Hardshrink LocalResponseNorm MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d "
            "PairwiseDistance PixelShuffle PixelUnshuffle ReflectionPad1d "
            "ReflectionPad3d ReplicationPad1d ReplicationPad3d Softshrink Unfold ZeroPad1d ZeroPad3d "
        ).split(),
        "more_layers",
    ),
    **dict.fromkeys(
        ("CTCLoss CosineEmbeddingLoss MarginRankingLoss TripletMarginLoss ").split(),
        "more_layers",
    ),
    **dict.fromkeys(("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"), "more_layers"),
    "DataParallel": "containers",
    "ParameterDict": "containers",
    "ParameterList": "containers",
    **dict.fromkeys(
        ("GRU GRUCell LSTM LSTMCell MultiheadAttention RNN RNNBase RNNCell RNNCellBase ").split(),
        "recurrent_layers",
    ),
    **dict.fromkeys(
        ("Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer ").split(),
        "transformer_layers",
    ),
    **dict.fromkeys(
        ("PReLU RMSNorm SyncBatchNorm UpsamplingBilinear2d UpsamplingNearest2d").split(),
        "more_layers",
    ),
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        import importlib

        found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LATE[name]}"), name)
        return found
    if name in ("modules", "common_types", "attention", "_reduction"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    from ..core.supported_names import missing

    return missing("torch.nn", name)


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "ConstantPad2d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CrossEntropyLoss",
    "Dropout",
    "Dropout2d",
    "Embedding",
    "EmbeddingBag",
    "Flatten",
    "GroupNorm",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "ReLU",
    "ReLU6",
    "ReflectionPad2d",
    "ReplicationPad2d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Unflatten",
    "Upsample",
    "ZeroPad2d",
    "functional",
    "init",
    "utils",
]
