r e{AutoNonVariableTypeMode(true‹;//
e.forward(;