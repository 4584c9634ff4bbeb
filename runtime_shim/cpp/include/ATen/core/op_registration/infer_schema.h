#pragma once

#include <ATen/core/op_registration/op_registration.h>
