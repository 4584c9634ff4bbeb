#pragma once

#include <guardfix/python.h>
