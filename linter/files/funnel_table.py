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
    'frontends/python/python_frontend.py': 746802105,
    'rules/gf001_unreadable_file.py': 3609026855,
    'rules/gf101_legacy_guard.py': 2336111726,
    'rules/gf102_legacy_guard_argument.py': 2180193973,
    'rules/gf103_stale_version_gate.py': 2649672856,
    'rules/gf104_legacy_static_api.py': 2444018889,
    'rules/gf105_legacy_guard_in_string.py': 2696557640,
    'rules/gf201_temporary_guard.py': 1300851539,
    'rules/gf202_guard_covers_nothing.py': 3279270448,
    'rules/gf203_vexing_parse_guard.py': 1662332802,
    'rules/gf204_static_or_global_guard.py': 218633175,
    'rules/gf205_heap_guard.py': 4097941602,
    'rules/gf206_guard_member.py': 3978114940,
    'rules/gf207_guard_lost_in_thread.py': 2897564568,
    'rules/gf208_guard_after_work.py': 2669361178,
    'rules/gf301_kernel_guard_in_user_code.py': 1793952352,
    'rules/gf302_redundant_guard_in_function_forward.py': 454609649,
    'rules/gf303_redundant_guard.py': 4199931814,
    'rules/gf304_guard_in_function_backward.py': 2381221813,
    'rules/gf401_guard_on_async_def.py': 3363087394,
    'rules/gf402_bare_guard_statement.py': 4274534222,
    'rules/gf403_uncalled_guard.py': 2631385081,
    'rules/gf404_guard_on_class.py': 2072001682,
    'rules/gf405_raw_c_guard.py': 1283300541,
    'rules/gf406_yield_under_guard.py': 367314607,
    'rules/gf407_redundant_guard.py': 1241112492,
    'rules/gf501_inference_escape.py': 1614355207,
    'rules/gf502_inference_backward.py': 786647803,
    'rules/gf503_lazy_cache_under_inference_mode.py': 1647777911,
    'rules/gf504_inference_mode_in_training.py': 67555378,
    'rules/gf505_legacy_decorator_call.py': 1206437874,
    'rules/gf506_inference_escape.py': 594247054,
    'rules/gf507_inference_backward.py': 2909484800,
}
