-- Has a lease last for a time from now at least. ARGV from 7: id, token (0 for any), time. Answers 1 when the lease is held, 0 when it has ended or is
-- unknown, then epoch, version, recovering (0 or 1): a lease that is unknown during a recovery may be asserted.
begin()
local id, token, term = ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local lease = findLease(id)
local isHeld = lease and (token == 0 or lease.token == token)
if isHeld then
  lease.ttl = term
  lease.expires = math.max(lease.expires, clock + term)
  saveLease(id, lease)
  version = version + 1
end
save()
return { isHeld and 1 or 0, epoch, version, isRecovering() and 1 or 0 }
