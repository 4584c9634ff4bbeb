r i{
#if 0
#elsed ch::Tensor&t){:AutoNonVariableTypeMode d();//Gce
module();}
#endif