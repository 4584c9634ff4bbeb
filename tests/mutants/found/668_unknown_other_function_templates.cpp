[]{/**/AutoNonVariableTypeMode g//\

(//
e);//
}