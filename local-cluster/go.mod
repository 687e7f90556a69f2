module localcluster

go 1.26
