-- A heartbeat. ARGV from 7: node, sequence, kept, wanted, limit, last (0 or 1), demand, then id, permits, ttl, token of each lease.
-- Answers outcome (RECORDED, STALE or ENDED), epoch, version, slice, recovering (0 or 1), whether all slices and leases are within the
-- smallest limit (0 or 1), the number of its leases, id, token of
-- each of them, then node, demand of each live node.
local name, sequence, kept, wanted, limit, isLast, demand =
  ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12] == '1', ARGV[13]

local function answer(outcome, slice)
  save()
  return { outcome, epoch, version, slice, isRecovering() and 1 or 0, 0, 0 }
end

begin()
local node = nodes[name]
if node and node.ended then
  return answer('ENDED', 0)
end
if node and sequence <= node.sequence then
  return answer('STALE', 0)
end
node = node or { slice = 0, sequence = 0, expires = 0, limit = limit, asserted = false, ended = false }

local claims = {}
local needed = kept
for i = 14, #ARGV, 4 do
  local claim = { id = ARGV[i], permits = tonumber(ARGV[i + 1]), ttl = tonumber(ARGV[i + 2]), token = tonumber(ARGV[i + 3]) }
  claim.lease = findLease(claim.id)
  claim.isUnknown = not claim.lease and not redis.call('ZSCORE', ENDED, claim.id)
  if claim.isUnknown and claim.token == 0 then
    needed = needed + claim.permits
  end
  claims[#claims + 1] = claim
end

-- The node says that it has more than was recorded: the record was lost. The second time the node itself is wrong.
if needed > node.slice and not isRecovering() then
  if node.asserted then
    endNode(name, node)
    return answer('ENDED', 0)
  end
  node.asserted = true
  lost(0)
end

local tokens = {}
for i = 1, #claims do
  local claim = claims[i]
  -- lost() has changed it; and one lease may be claimed twice in one heartbeat.
  local lease = findLease(claim.id)
  if not lease and claim.isUnknown and (claim.token == 0 or isRecovering()) then
    local token = claim.token
    if token == 0 then
      fence = fence + 1
      token = epoch * FENCES + fence
    end
    lease = { permits = claim.permits, expires = clock + claim.ttl, ttl = claim.ttl, token = token }
    leased = leased + claim.permits
    saveLease(claim.id, lease)
  end
  if lease then
    -- Its time begins anew: the node counts from this heartbeat, as it was not answered before.
    lease.expires = math.max(lease.expires, clock + lease.ttl)
    saveLease(claim.id, lease)
    tokens[#tokens + 1] = claim.id
    tokens[#tokens + 1] = lease.token
  end
end

local before = node.slice
node.slice = kept
node.sequence = sequence
node.expires = clock + ttl
node.limit = limit
saveNode(name, node)
redis.call('HSET', DEMANDS, name, demand)
version = version + 1
local used = leased
local least = limit
for _, each in pairs(nodes) do
  used = used + each.slice
  if not each.ended and each.limit < least then
    least = each.limit
  end
end
if isLast then
  endNode(name, node)
elseif not isRecovering() then
  local growth = math.min(wanted - kept, least - used)
  if growth > 0 then
    node.slice = kept + growth
    saveNode(name, node)
  end
end
isMoreFree = isMoreFree or node.slice < before
local answered = answer('RECORDED', node.slice)
answered[6] = used <= least and 1 or 0
answered[7] = #tokens / 2
for i = 1, #tokens do
  answered[#answered + 1] = tokens[i]
end
local demands = redis.call('HGETALL', DEMANDS)
for i = 1, #demands, 2 do
  local told = nodes[demands[i]]
  if told and not told.ended then
    answered[#answered + 1] = demands[i]
    answered[#answered + 1] = demands[i + 1]
  else
    redis.call('HDEL', DEMANDS, demands[i]) -- its record was lost
  end
end
return answered
