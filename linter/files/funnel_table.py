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
    'cpp': (b'NonVariableTypeMode', b'InferenceMode', b'AutoDispatchBelowA', b'NoGradGuard', b'AutoGradMode', b'AutoFwGradMode', b', Autograd', b',Autograd', b'.bias[', b'.weight[', b'DispatchKey::Autograd', b'GradMode::is_enabled', b'GradMode::set_enabled', b'_C._set_grad_enabled', b'findSchema', b'is_grad_enabled'),
    'docs': (b'NonVariableTypeMode',),
    'python': (b'no_grad', b'enable_grad', b'set_grad_enabled', b'inference_mode', b'_InferenceMode', b'_AutoDispatchBelowA', b'NonVariableTypeMode', b'.bias[', b'.weight[', b'GradMode::is_enabled', b'GradMode::set_enabled', b'autograd.backward(', b'autograd.grad(', b'is_grad_enabled'),
}
TEXTS: dict[str, tuple[bytes, ...]] = {
    'cpp': (b', Autograd', b',Autograd', b'.bias[', b'.weight[', b'AOTIModel', b'DispatchKey::Autograd', b'GradMode::is_enabled', b'GradMode::set_enabled', b'_C._set_grad_enabled', b'backward(', b'findSchema', b'is_grad_enabled', b'jit::load', b'std::async', b'std::thread'),
    'python': (b'.bias[', b'.weight[', b'GradMode::is_enabled', b'GradMode::set_enabled', b'_C._set_grad_enabled', b'autograd.backward(', b'autograd.grad(', b'is_grad_enabled'),
}
ALWAYS: dict[str, tuple[bytes, ...]] = {
    'cpp': (b'NonVariableTypeMode', b'InferenceMode', b'AutoDispatchBelowA', b'NoGradGuard', b'AutoGradMode', b'AutoFwGradMode', b', Autograd', b',Autograd', b'.bias[', b'.weight[', b'AOTIModel', b'DispatchKey::Autograd', b'GradMode::is_enabled', b'GradMode::set_enabled', b'_C._set_grad_enabled', b'backward(', b'findSchema', b'is_grad_enabled', b'jit::load', b'std::async', b'std::thread'),
    'docs': (b'NonVariableTypeMode',),
    'python': (b'NonVariableTypeMode', b'.bias[', b'.weight[', b'GradMode::is_enabled', b'GradMode::set_enabled', b'_C._set_grad_enabled', b'autograd.backward(', b'autograd.grad(', b'is_grad_enabled'),
}
WORDS: dict[str, tuple[str, ...]] = {
    'cpp': (),
    'docs': (),
    'python': ('no_grad', 'enable_grad', 'set_grad_enabled', 'inference_mode', '_InferenceMode', '_AutoDispatchBelowAutograd', '_AutoDispatchBelowADInplaceOrView'),
}
FRONTENDS: frozenset[str] = frozenset(['cpp', 'embedded', 'markdown', 'python'])
RULES: int = 42
DECLARATIONS: dict[str, tuple[int, int]] = {
    'guards.py': (10256, 1538539117),
    'frontends/cpp/cpp_frontend.py': (2119, 4112502250),
    'frontends/embedded/embedded_frontend.py': (791, 788403659),
    'frontends/markdown/markdown_frontend.py': (895, 4100247517),
    'frontends/python/python_frontend.py': (2383, 3036468470),
    'rules/gf001_unreadable_file.py': (2487, 1549600407),
    'rules/gf002_unused_suppression.py': (1799, 2100902538),
    'rules/gf101_legacy_guard.py': (6181, 3969593064),
    'rules/gf102_legacy_guard_argument.py': (2838, 1313670920),
    'rules/gf103_stale_version_gate.py': (3113, 2390498568),
    'rules/gf104_legacy_static_api.py': (2453, 563534168),
    'rules/gf105_legacy_guard_in_string.py': (2947, 557510392),
    'rules/gf201_temporary_guard.py': (2974, 3034620111),
    'rules/gf202_guard_covers_nothing.py': (5413, 2815079595),
    'rules/gf203_vexing_parse_guard.py': (3171, 2688591244),
    'rules/gf204_static_or_global_guard.py': (2765, 1866782248),
    'rules/gf205_heap_guard.py': (6650, 556619432),
    'rules/gf206_guard_member.py': (3265, 2437768832),
    'rules/gf207_guard_lost_in_thread.py': (20877, 3578109377),
    'rules/gf208_guard_after_work.py': (6766, 184646462),
    'rules/gf209_unguarded_inference.py': (8929, 398956423),
    'rules/gf301_kernel_guard_in_user_code.py': (6899, 504505272),
    'rules/gf302_redundant_guard_in_function_forward.py': (3295, 1409040566),
    'rules/gf303_redundant_guard.py': (3710, 579249291),
    'rules/gf304_guard_in_function_backward.py': (4444, 2631763718),
    'rules/gf306_missing_redispatch_guard.py': (4557, 3277093489),
    'rules/gf307_grad_mode_asked_in_forward.py': (6263, 3724349757),
    'rules/gf401_guard_on_async_def.py': (4050, 427838723),
    'rules/gf402_bare_guard_statement.py': (2274, 1577216441),
    'rules/gf403_uncalled_guard.py': (2142, 3730406662),
    'rules/gf404_guard_on_class.py': (1844, 3086982454),
    'rules/gf405_raw_c_guard.py': (3055, 1625687437),
    'rules/gf406_yield_under_guard.py': (3983, 3503375762),
    'rules/gf407_redundant_guard.py': (4987, 2823241858),
    'rules/gf408_grad_mode_not_restored.py': (4207, 2064044166),
    'rules/gf409_override_loses_guard.py': (2803, 1445529339),
    'rules/gf410_training_under_guard.py': (4890, 2721410263),
    'rules/gf411_guard_in_scripted_code.py': (3843, 348241276),
    'rules/gf501_inference_escape.py': (2751, 1386378332),
    'rules/gf502_inference_backward.py': (2480, 541055872),
    'rules/gf503_lazy_cache_under_inference_mode.py': (2965, 101069055),
    'rules/gf504_inference_mode_in_training.py': (3924, 1107514514),
    'rules/gf505_legacy_decorator_call.py': (2026, 1699565329),
    'rules/gf506_inference_escape.py': (2719, 2145790722),
    'rules/gf507_inference_backward.py': (2351, 2110497864),
    'rules/gf508_inference_tensors_in_training.py': (9925, 3580184210),
    'rules/gf509_recorded_write.py': (2491, 1384123929),
}
