struct {AutoGradMode {false}/**/at::AutoNonVariableTypeMode a"
{true};