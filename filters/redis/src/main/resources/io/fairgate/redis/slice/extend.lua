-- Extends a lease by its time from now. ARGV from 7: id, token. Answers 1 when the lease is held, 0 when it has ended or is unknown,
-- then epoch, version, recovering (0 or 1): a lease that is unknown during a recovery may be asserted.
begin()
local id, token = ARGV[7], tonumber(ARGV[8])
local lease = findLease(id)
local isHeld = lease and lease.token == token
if isHeld then
  lease.expires = clock + lease.ttl
  saveLease(id, lease)
  version = version + 1
end
save()
return { isHeld and 1 or 0, epoch, version, isRecovering() and 1 or 0 }
