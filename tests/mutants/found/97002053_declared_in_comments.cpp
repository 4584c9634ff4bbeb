r(r//guardfix:kernel
at::AutoNonVariableTypeMode//
::j