e()//
{InferenceMode ;t[]=c[]+e;}