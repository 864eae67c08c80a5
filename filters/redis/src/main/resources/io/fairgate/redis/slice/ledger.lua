-- The ledger of one pool: what all scripts begin with, and end with. SliceKernel, in the tests, is its model.
-- All times are milliseconds of the ledger's own clock.
local LEDGER, NODES, LEASES, DUE, ENDED, DEMANDS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local FREE = string.gsub(LEDGER, 'ledger$', 'free')
local ttl, maxStep, failover = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local seenEpoch, seenVersion = tonumber(ARGV[5]), tonumber(ARGV[6])
local REMEMBERED = 10 * ttl
local FENCES = 2 ^ 40
local MOST_DUE = 1000 -- the others stay used until the next call

-- Without this, numbers of more than 14 digits lose their last ones.
local function text(number)
  return string.format('%.0f', number)
end

local read = redis.call('HMGET', LEDGER, 'clock', 'wall', 'server', 'epoch', 'version', 'recovering', 'fence', 'leased')
local clock = tonumber(read[1]) or 0
local lastWall = tonumber(read[2]) or 0
local lastServer = read[3] or ''
local epoch = tonumber(read[4]) or 0
local version = tonumber(read[5]) or 0
local recoveringUntil = tonumber(read[6]) or 0
local fence = tonumber(read[7]) or 0
local leased = tonumber(read[8]) or 0

local isMoreFree = false -- whether this call has made permits free

local nodes = {} -- by name: slice, sequence, expires, limit, asserted, ended
local packed = redis.call('HGETALL', NODES)
for i = 1, #packed, 2 do
  local slice, sequence, expires, limit, asserted, ended =
    string.match(packed[i + 1], '^(%d+) (%d+) (%d+) (%d+) (%d) (%d)$')
  nodes[packed[i]] = {
    slice = tonumber(slice),
    sequence = tonumber(sequence),
    expires = tonumber(expires),
    limit = tonumber(limit),
    asserted = asserted == '1',
    ended = ended == '1'
  }
end

local function saveNode(name, node)
  nodes[name] = node
  redis.call('HSET', NODES, name, text(node.slice) .. ' ' .. text(node.sequence) .. ' ' .. text(node.expires) .. ' '
    .. text(node.limit) .. ' ' .. (node.asserted and '1' or '0') .. ' ' .. (node.ended and '1' or '0'))
end

-- Its name must not be used again for a while: messages of it may still be on their way.
local function endNode(name, node)
  isMoreFree = isMoreFree or node.slice > 0
  node.slice = 0
  node.expires = clock + REMEMBERED
  node.ended = true
  saveNode(name, node)
  redis.call('HDEL', DEMANDS, name)
end

local function findLease(id)
  local found = redis.call('HGET', LEASES, id)
  if not found then
    return nil
  end
  local permits, expires, term, token = string.match(found, '^(%d+) (%d+) (%d+) (%d+)$')
  return { permits = tonumber(permits), expires = tonumber(expires), ttl = tonumber(term), token = tonumber(token) }
end

local function saveLease(id, lease)
  redis.call('HSET', LEASES, id,
    text(lease.permits) .. ' ' .. text(lease.expires) .. ' ' .. text(lease.ttl) .. ' ' .. text(lease.token))
  redis.call('ZADD', DUE, text(lease.expires), id)
end

local function endLease(id, lease)
  redis.call('HDEL', LEASES, id)
  redis.call('ZREM', DUE, id)
  redis.call('ZADD', ENDED, text(clock + REMEMBERED), id)
  leased = leased - lease.permits
  isMoreFree = true
end

local function isRecovering()
  return clock < recoveringUntil
end

-- Writes may have been lost: until the terms of all slices that a lost ledger may have given have ended, no slice grows.
local function lost(epochSeen)
  epoch = math.max(epoch, epochSeen) + 1
  recoveringUntil = clock + ttl + maxStep + failover
  for name, node in pairs(nodes) do
    if not node.ended then
      node.expires = clock + ttl
      saveNode(name, node)
    end
  end
  local ids = redis.call('HKEYS', LEASES)
  for i = 1, #ids do
    local lease = findLease(ids[i])
    lease.expires = math.max(lease.expires, clock + lease.ttl + failover)
    saveLease(ids[i], lease)
  end
end

local function begin()
  clock = clock + math.max(0, math.min(wall - lastWall, maxStep))
  if epoch == 0 then
    clock = 1
    -- Tokens are larger than those of a gateway alone, which are microseconds of its clock.
    epoch = math.floor(wall * 1000 / FENCES)
    lost(seenEpoch)
  elseif lastServer ~= server or seenEpoch > epoch or (seenEpoch == epoch and seenVersion > version) then
    lost(seenEpoch)
  end
  for name, node in pairs(nodes) do
    if node.expires <= clock then
      if node.ended then
        nodes[name] = nil
        redis.call('HDEL', NODES, name)
      else
        endNode(name, node)
      end
    end
  end
  local due = redis.call('ZRANGEBYSCORE', DUE, '-inf', text(clock), 'LIMIT', 0, MOST_DUE)
  for i = 1, #due do
    endLease(due[i], findLease(due[i]))
  end
  redis.call('ZREMRANGEBYSCORE', ENDED, '-inf', text(clock))
end

local function save()
  redis.call('HSET', LEDGER, 'clock', text(clock), 'wall', text(wall), 'server', server, 'epoch', text(epoch),
    'version', text(version), 'recovering', text(recoveringUntil), 'fence', text(fence), 'leased', text(leased))
  if isMoreFree then
    redis.pcall('PUBLISH', FREE, '') -- only a hint: an ACL may forbid it
  end
end
