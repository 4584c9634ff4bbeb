"""`torch.nn`."""

from __future__ import annotations

from typing import Any

from ..core.late_modules import homes_of
from . import functional, init, utils
from .module import Module
from .parameter import Buffer, Parameter

_HOMES = homes_of({
    "layers": "BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Embedding EmbeddingBag GroupNorm Identity LayerNorm Linear",
    "conv_layers": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "weightless_layers": """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AvgPool1d AvgPool2d BCELoss BCEWithLogitsLoss CELU ConstantPad2d
        CrossEntropyLoss Dropout Dropout2d ELU Flatten GELU GLU Hardsigmoid Hardswish Hardtanh HuberLoss KLDivLoss
        L1Loss LeakyReLU LogSigmoid LogSoftmax MSELoss MaxPool1d MaxPool2d Mish NLLLoss ReLU ReLU6 ReflectionPad2d
        ReplicationPad2d SELU SiLU Sigmoid SmoothL1Loss Softmax Softmin Softplus Softsign Tanh Tanhshrink Threshold
        Unflatten Upsample ZeroPad2d
    """,
    "containers": "DataParallel ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "recurrent_layers": "GRU GRUCell LSTM LSTMCell MultiheadAttention RNN RNNBase RNNCell RNNCellBase",
    "transformer_layers": """
        Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer
    """,
    "more_layers": """
        AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool3d CTCLoss
        ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad3d CosineEmbeddingLoss
        CosineSimilarity Dropout1d Dropout3d Fold Hardshrink InstanceNorm1d InstanceNorm2d InstanceNorm3d
        LocalResponseNorm MarginRankingLoss MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d PReLU PairwiseDistance
        PixelShuffle PixelUnshuffle RMSNorm ReflectionPad1d ReflectionPad3d ReplicationPad1d ReplicationPad3d Softshrink
        SyncBatchNorm TripletMarginLoss Unfold UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad3d
    """,
})  # fmt: skip
"""Layers by the module that has them, which is imported when one is asked for."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        return found
    if name in ("modules", "common_types", "attention", "_reduction"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    from ..core.supported_names import missing

    return missing("torch.nn", name)


__all__ = [*_HOMES, "Buffer", "Module", "Parameter", "functional", "init", "utils"]
