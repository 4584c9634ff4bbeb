"""What the guard table, the rules and the front ends declare, for code that cannot import these first.

Written by `python -m guardfix.linter.record_funnel`; a test holds it to what they say.
"""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

LANGUAGES: dict[str, str] = {
    '.c': 'cpp',
    '.c++': 'cpp',
    '.c++m': 'cpp',
    '.cc': 'cpp',
    '.ccm': 'cpp',
    '.cpp': 'cpp',
    '.cppm': 'cpp',
    '.cu': 'cpp',
    '.cuh': 'cpp',
    '.cxx': 'cpp',
    '.cxxm': 'cpp',
    '.h': 'cpp',
    '.h++': 'cpp',
    '.hh': 'cpp',
    '.hip': 'cpp',
    '.hpp': 'cpp',
    '.hxx': 'cpp',
    '.inl': 'cpp',
    '.ipp': 'cpp',
    '.ixx': 'cpp',
    '.m': 'cpp',
    '.mm': 'cpp',
    '.mpp': 'cpp',
    '.tpp': 'cpp',
    '.py': 'python',
    '.pyi': 'python',
}
ON_REQUEST: dict[str, str] = {
    '.markdown': 'docs',
    '.md': 'docs',
    '.rst': 'docs',
}
LOOKS: dict[str, str] = {
    'python': 'guardfix.linter.frontends.python.python_look',
}
NEEDLES: dict[str, tuple[bytes, ...]] = {
    'cpp': (b'NonVariableTypeMode', b'InferenceMode', b'AutoDispatchBelowA', b'NoGradGuard', b'AutoGradMode', b'AutoFwGradMode'),
    'docs': (b'NonVariableTypeMode',),
    'python': (b'no_grad', b'enable_grad', b'set_grad_enabled', b'inference_mode', b'_InferenceMode', b'_AutoDispatchBelowA', b'NonVariableTypeMode'),
}
TEXTS: dict[str, tuple[bytes, ...]] = {
}
ALWAYS: dict[str, tuple[bytes, ...]] = {
    'cpp': (b'NonVariableTypeMode', b'InferenceMode', b'AutoDispatchBelowA', b'NoGradGuard', b'AutoGradMode', b'AutoFwGradMode'),
    'docs': (b'NonVariableTypeMode',),
    'python': (b'NonVariableTypeMode',),
}
WORDS: dict[str, tuple[str, ...]] = {
    'cpp': (),
    'docs': (),
    'python': ('no_grad', 'enable_grad', 'set_grad_enabled', 'inference_mode', '_InferenceMode', '_AutoDispatchBelowAutograd', '_AutoDispatchBelowADInplaceOrView'),
}
FRONTENDS: frozenset[str] = frozenset(['cpp', 'embedded', 'markdown', 'python'])
RULES: int = 32
DECLARATIONS: dict[str, int] = {
    'guards.py': 1694734429,
    'frontends/cpp/cpp_frontend.py': 2581943894,
    'frontends/embedded/embedded_frontend.py': 788403659,
    'frontends/markdown/markdown_frontend.py': 4100247517,
    'frontends/python/python_frontend.py': 3299167931,
    'rules/gf001_unreadable_file.py': 3609026855,
    'rules/gf101_legacy_guard.py': 599504452,
    'rules/gf102_legacy_guard_argument.py': 2180193973,
    'rules/gf103_stale_version_gate.py': 1291118108,
    'rules/gf104_legacy_static_api.py': 3765577760,
    'rules/gf105_legacy_guard_in_string.py': 261467187,
    'rules/gf201_temporary_guard.py': 2161547976,
    'rules/gf202_guard_covers_nothing.py': 3279270448,
    'rules/gf203_vexing_parse_guard.py': 2102987891,
    'rules/gf204_static_or_global_guard.py': 218633175,
    'rules/gf205_heap_guard.py': 4097941602,
    'rules/gf206_guard_member.py': 3978114940,
    'rules/gf207_guard_lost_in_thread.py': 1245007767,
    'rules/gf208_guard_after_work.py': 2619901528,
    'rules/gf301_kernel_guard_in_user_code.py': 3095216315,
    'rules/gf302_redundant_guard_in_function_forward.py': 2576214168,
    'rules/gf303_redundant_guard.py': 148386335,
    'rules/gf304_guard_in_function_backward.py': 1210998474,
    'rules/gf401_guard_on_async_def.py': 403089367,
    'rules/gf402_bare_guard_statement.py': 1156210728,
    'rules/gf403_uncalled_guard.py': 2349954783,
    'rules/gf404_guard_on_class.py': 2072001682,
    'rules/gf405_raw_c_guard.py': 2056928068,
    'rules/gf406_yield_under_guard.py': 367314607,
    'rules/gf407_redundant_guard.py': 4212931537,
    'rules/gf501_inference_escape.py': 74035977,
    'rules/gf502_inference_backward.py': 786647803,
    'rules/gf503_lazy_cache_under_inference_mode.py': 1647777911,
    'rules/gf504_inference_mode_in_training.py': 109514490,
    'rules/gf505_legacy_decorator_call.py': 2980768419,
    'rules/gf506_inference_escape.py': 328592292,
    'rules/gf507_inference_backward.py': 2909484800,
}
