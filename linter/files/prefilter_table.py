"""What the guard table, the rules and the front ends declare, for code that cannot import these first.

Written by `python -m guardfix.linter.record_prefilter`; a test holds it to what they say.
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
    'cpp': (b'NonVariableTypeMode', b'InferenceMode', b'AutoDispatchBelowA', b'NoGradGuard', b'AutoGradMode', b'AutoFwGradMode', b', Autograd', b',Autograd', b'->bias.', b'->weight.', b'.grad()', b'DispatchKey::Autograd', b'GradMode::is_enabled', b'GradMode::set_enabled', b'autograd::grad(', b'findSchema', b'parameters()) ', b'torch::requires_grad('),
    'docs': (b'NonVariableTypeMode',),
    'python': (b'no_grad', b'enable_grad', b'set_grad_enabled', b'inference_mode', b'_InferenceMode', b'_AutoDispatchBelowA', b'NonVariableTypeMode', b'.backward()', b'.bias.', b'.bias[', b'.parameters()', b'.weight.', b'.weight[', b'_hook(', b'autograd.backward(', b'autograd.grad(', b'def backward(ctx', b'is_grad_enabled', b'nn.Parameter(', b'requires_grad=True', b'use_reentrant=True'),
}
TEXTS: dict[str, tuple[bytes, ...]] = {
    'cpp': (b', Autograd', b',Autograd', b'->bias.', b'->weight.', b'.grad()', b'AOTIModel', b'DispatchKey::Autograd', b'GradMode::is_enabled', b'GradMode::set_enabled', b'autograd::grad(', b'backward(', b'findSchema', b'jit::load', b'parameters()) ', b'std::async', b'std::thread', b'torch::requires_grad('),
    'python': (b'.backward()', b'.bias.', b'.bias[', b'.parameters()', b'.weight.', b'.weight[', b'_C._set_grad_enabled', b'_hook(', b'autograd.backward(', b'autograd.grad(', b'def backward(ctx', b'is_grad_enabled', b'nn.Parameter(', b'requires_grad=True', b'use_reentrant=True'),
}
ALWAYS: dict[str, tuple[bytes, ...]] = {
    'cpp': (b'NonVariableTypeMode', b'InferenceMode', b'AutoDispatchBelowA', b'NoGradGuard', b'AutoGradMode', b'AutoFwGradMode', b', Autograd', b',Autograd', b'->bias.', b'->weight.', b'.grad()', b'AOTIModel', b'DispatchKey::Autograd', b'GradMode::is_enabled', b'GradMode::set_enabled', b'autograd::grad(', b'backward(', b'findSchema', b'jit::load', b'parameters()) ', b'std::async', b'std::thread', b'torch::requires_grad('),
    'docs': (b'NonVariableTypeMode',),
    'python': (b'NonVariableTypeMode', b'.backward()', b'.bias.', b'.bias[', b'.parameters()', b'.weight.', b'.weight[', b'_C._set_grad_enabled', b'_hook(', b'autograd.backward(', b'autograd.grad(', b'def backward(ctx', b'is_grad_enabled', b'nn.Parameter(', b'requires_grad=True', b'use_reentrant=True'),
}
SHAPES: dict[str, tuple[tuple[bytes, bytes], ...]] = {
    'python': ((b'_hook(', b'(?m)^[ \\t]*with [^\\n]*(?:no_grad|inference_mode)[^\\n]*:[ \\t]*(?:#[^\\n]*)?\\n\\s+(?:[^\\n]*_hook\\(|def |for )'), (b'def backward(ctx', b'def backward\\(ctx(?:[^\\n]*\\n){1,80}?[^\\n]*(?:no_grad|inference_mode|set_grad_enabled)\\('), (b'is_grad_enabled', b'\\bdef\\s+(?:forward|setup_context)\\s*\\(\\s*(?!self\\b)\\w'), (b'.weight[', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b'), (b'.bias[', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b'), (b'.weight.', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b'), (b'.bias.', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b'), (b'requires_grad=True', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b'), (b'nn.Parameter(', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b'), (b'.parameters()', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b'), (b'.backward()', b'(?m)(?:\\.|->)(?:weight|bias)\\.[a-z]\\w*_\\(|\\.(?:weight|bias)\\[(?:[^][]|\\[[^][]*\\])*\\]\\s*[-+*/@%&|^<>]{0,2}=(?!=)|^[ \\t]*([\\w.]+)[ \\t]*(?::[^=\\n]{0,100})?=[^\\n]{0,300}?(?:requires_grad=True|\\bnn\\.Parameter\\()(?s:.{0,4000}?)^[ \\t]*\\1[ \\t]*(?:\\[[^\\n]{0,300}\\][ \\t]*[-+*/@]?=(?!=)|(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\())|^[ \\t]*for (\\w+) in [^\\n]{0,300}:(?s:.{0,1000}?)^[ \\t]*\\2[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*for [^\\n]*?\\b(\\w+)\\b[^\\n]* in [^\\n]{0,300}parameters\\(\\)[^\\n]*:(?s:.{0,1000}?)^[ \\t]*\\3[ \\t]*(?:(?:[-+*/@%&|^]|//|\\*\\*)=|\\.[a-z]\\w*_\\()|^[ \\t]*([\\w.]+)(?:[ \\t]*[-+*/]=|\\.\\w+_\\()[^\\n]*\\b\\4\\.grad\\b')),
}
WORDS: dict[str, tuple[str, ...]] = {
    'cpp': (),
    'docs': (),
    'python': ('no_grad', 'enable_grad', 'set_grad_enabled', 'inference_mode', '_InferenceMode', '_AutoDispatchBelowAutograd', '_AutoDispatchBelowADInplaceOrView'),
}
FRONTENDS: frozenset[str] = frozenset(['cpp', 'embedded', 'markdown', 'python'])
RULES: int = 42
DECLARATIONS: dict[str, tuple[int, int]] = {
    'guards.py': (10643, 33784553),
    'frontends/cpp/cpp_frontend.py': (2194, 898466638),
    'frontends/embedded/embedded_frontend.py': (801, 333143733),
    'frontends/markdown/markdown_frontend.py': (888, 3065117593),
    'frontends/python/python_frontend.py': (2478, 3672495362),
    'rules/gf001_unreadable_file.py': (2456, 3715996239),
    'rules/gf002_unused_suppression.py': (2092, 2240677951),
    'rules/gf101_legacy_guard.py': (6521, 825122954),
    'rules/gf102_legacy_guard_argument.py': (3017, 2942481916),
    'rules/gf103_stale_version_gate.py': (3382, 409116177),
    'rules/gf104_legacy_static_api.py': (2728, 2161083575),
    'rules/gf105_legacy_guard_in_string.py': (3165, 3518538750),
    'rules/gf201_temporary_guard.py': (4911, 710799393),
    'rules/gf202_guard_covers_nothing.py': (9077, 30897129),
    'rules/gf203_vexing_parse_guard.py': (3416, 257945454),
    'rules/gf204_static_or_global_guard.py': (3003, 1220326508),
    'rules/gf205_heap_guard.py': (9236, 856583351),
    'rules/gf206_guard_member.py': (3493, 3926225808),
    'rules/gf207_guard_lost_in_thread.py': (4272, 1345870602),
    'rules/gf208_guard_after_work.py': (7405, 2226987520),
    'rules/gf209_unguarded_inference.py': (10606, 3847579286),
    'rules/gf301_kernel_guard_in_user_code.py': (7101, 345833240),
    'rules/gf302_redundant_guard_in_function_forward.py': (3574, 886283996),
    'rules/gf303_redundant_guard.py': (3978, 3156910658),
    'rules/gf304_guard_in_function_backward.py': (5257, 4275065362),
    'rules/gf306_missing_redispatch_guard.py': (4702, 3363119938),
    'rules/gf307_grad_mode_asked_in_forward.py': (6450, 2263543089),
    'rules/gf401_guard_on_async_def.py': (4347, 2369557014),
    'rules/gf402_bare_guard_statement.py': (2522, 451565351),
    'rules/gf403_uncalled_guard.py': (2503, 2765260110),
    'rules/gf404_guard_on_class.py': (2049, 1185282891),
    'rules/gf405_raw_c_guard.py': (3325, 55153321),
    'rules/gf406_yield_under_guard.py': (4590, 395968156),
    'rules/gf407_redundant_context_manager.py': (5261, 140995919),
    'rules/gf408_grad_mode_not_restored.py': (4396, 206708463),
    'rules/gf409_override_loses_guard.py': (2951, 3138951077),
    'rules/gf410_training_under_guard.py': (4550, 1999173194),
    'rules/gf411_guard_in_scripted_code.py': (3991, 2801641603),
    'rules/gf501_inference_escape.py': (3293, 4094408550),
    'rules/gf502_inference_backward.py': (3043, 1172219189),
    'rules/gf503_lazy_cache_under_inference_mode.py': (3168, 2486703191),
    'rules/gf504_inference_mode_in_training.py': (4165, 2607990983),
    'rules/gf505_legacy_decorator_call.py': (2280, 534447917),
    'rules/gf506_inference_mode_escape.py': (2984, 964895367),
    'rules/gf507_unrecorded_backward.py': (3277, 2898816961),
    'rules/gf508_inference_tensors_in_training.py': (10065, 2328902443),
    'rules/gf509_recorded_write.py': (4293, 2015107113),
}
