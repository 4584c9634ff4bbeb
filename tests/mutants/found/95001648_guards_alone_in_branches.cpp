e(){if(){torch::AutoGradMode (false);//
};