struct S {
  torch::AutoNonVariableTypeMode  {true};
  int guard;
};
