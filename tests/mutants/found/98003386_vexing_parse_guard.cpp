r e{::InferenceMode//
(_);