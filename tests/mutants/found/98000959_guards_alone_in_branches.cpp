r(t,const if(()){::InferenceMode/**/d/**/;//
}
e