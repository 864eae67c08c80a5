-- Tells the nodes that listen to the channel ARGV[1] that one of them lacks permits. Only a hint: an ACL may forbid it.
redis.pcall('PUBLISH', ARGV[1], '')
return {}
