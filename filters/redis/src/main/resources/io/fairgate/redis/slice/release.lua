-- Ends a lease. ARGV from 7: id, token. A lease that has ended, or that has another token, is left alone.
-- Answers 1 when this call has ended it, else 0, then epoch, version.
begin()
local id, token = ARGV[7], tonumber(ARGV[8])
local lease = findLease(id)
local ends = lease and lease.token == token
if ends then
  endLease(id, lease)
  version = version + 1
end
save()
return { ends and 1 or 0, epoch, version }
