::&f{const AutoNonVariableTypeMode//
d(e);//