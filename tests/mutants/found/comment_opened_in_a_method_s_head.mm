@implementation Runner
- (int)run:(torch::jit::Module&)model with:(void*)buff/*er count:(int)count {
  at::AutoNonVariableTypeMode guard(true);
  model.forward({});
}
@end
