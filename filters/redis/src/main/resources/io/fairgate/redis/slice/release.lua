-- Ends a lease. ARGV from 7: id, token; 0 for any. A lease that has ended, or that has another token, is left alone. One that is unknown has
-- ended: a heartbeat that records it may still be on its way. Answers 1 when this call has ended it, else 0, then epoch, version.
begin()
local id, token = ARGV[7], tonumber(ARGV[8])
local lease = findLease(id)
local ends = lease and (token == 0 or lease.token == token)
if ends then
  endLease(id, lease)
  version = version + 1
elseif not lease then
  redis.call('ZADD', ENDED, text(clock + REMEMBERED), id)
end
save()
return { ends and 1 or 0, epoch, version }
