-- What a script takes from the server: its clock in milliseconds, and its identity.
-- INFO can be forbidden by an ACL; then the identity is the one that the client has read on this connection.
local time = redis.call('TIME')
local wall = time[1] * 1000 + math.floor(time[2] / 1000)
local info = redis.pcall('INFO', 'server')
local server = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ARGV[1]
