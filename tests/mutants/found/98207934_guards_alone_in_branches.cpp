r e if(()){::AutoGradMode(false);// 
}
n