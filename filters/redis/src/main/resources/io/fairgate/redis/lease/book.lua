-- The book of leases: a record of each open lease, which any gateway may read and change. Times are milliseconds of the book's own clock,
-- which never goes back. It follows the clock of the server, but never beyond the most that it can be by the clock of the gateway that calls:
-- so a leap of the server's clock does not count, and leases rather end late than early.
--
-- After lost writes the gateways write again what they know. Until they have had the time for it, no lease expires, and all other calls are
-- refused: what they find may be old.
--
-- ARGV: server, failover, the epoch and version that the gateway has seen, the most time of the book's clock (0 when the gateway has not seen
-- it), then the command and its arguments. Every answer begins with epoch, version, clock, whether the call was refused (0 or 1), and the leases that have expired: their
-- number, then id, record of each. What follows is the answer of the command.
local BOOK, RECORDS, DUE, WAITING, TENANTS, HOSTS, MAIL, GATEWAYS, ENDED, ENDED_OF =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local failover = tonumber(ARGV[2]) -- how long a server that was replaced may go on to accept writes
local seenEpoch, seenVersion, most = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local MOST_UNSEEN = 200 -- what the first call of a gateway may add to the book's clock: more than the pauses between calls
local LIVE = 3000 -- how long a gateway counts as live after a call
local LOST_TOKENS = 2 ^ 30 -- more than those of any lost writes: they are microseconds
local MOST_DUE = 100 -- the others expire in the next call
local MOST_MAIL = 100
local MOST_ADOPTED = 20
local MOST_ENDED = 10000 -- how many ended leases of a tenant are remembered
local HOLDING, LAST = '9999999999999998', '9999999999999999' -- behind all arrivals
local AFTER = string.char(11) -- the character after the line feed: ends the range of all that begin with a name and a line feed

-- Without this, numbers of more than 14 digits lose their last ones.
local function text(number)
  return string.format('%.0f', number)
end

local read = redis.call('HMGET', BOOK, 'clock', 'wall', 'server', 'epoch', 'version', 'token', 'serial', 'arrival', 'holding',
  'recovering', 'fresh')
local clock = tonumber(read[1]) or 0
local lastWall = tonumber(read[2]) or 0
local lastServer = read[3] or ''
local epoch = tonumber(read[4]) or 0
local version = tonumber(read[5]) or 0
local token = tonumber(read[6]) or 0
local serial = tonumber(read[7]) or 0
local arrival = tonumber(read[8]) or 0
local holding = tonumber(read[9]) or 0
local recovering = tonumber(read[10]) or 0 -- until when
local isFresh = read[11] == '1' -- no gateway has told yet what the clock of the lost book was

-- A record: revision, serial, token, expires, holding (0 or 1), arrival (0 when it does not wait), host, tenant, pool of the queue and
-- permits there, since when it waits, how long it is remembered after its end, then the rest, which only gateways read.
local FIELDS = { 'revision', 'serial', 'token', 'expires', 'holding', 'arrival', 'host', 'tenant', 'queue', 'wanted', 'since',
  'remembered' }

local function unpacked(packed)
  local lease = {}
  local from = 1
  for i = 1, #FIELDS do
    local to = string.find(packed, '\n', from, true)
    lease[FIELDS[i]] = string.sub(packed, from, to - 1)
    from = to + 1
  end
  lease.rest = string.sub(packed, from)
  return lease
end

local function find(id)
  local packed = redis.call('HGET', RECORDS, id)
  return packed and unpacked(packed)
end

local function pack(lease)
  local fields = {}
  for i = 1, #FIELDS do
    fields[i] = lease[FIELDS[i]]
  end
  fields[#fields + 1] = lease.rest
  return table.concat(fields, '\n')
end

local function queued(id, lease)
  return lease.queue .. '\n' .. lease.tenant .. '\n' .. string.format('%016.0f', tonumber(lease.arrival)) .. '\n' .. id .. '\n'
    .. lease.wanted .. '\n' .. lease.since
end

-- Sorts the leases of a gateway: first those that wait, in the order of arrival, then those that hold permits.
local function hosted(id, lease)
  local order = lease.arrival ~= '0' and string.format('%016.0f', tonumber(lease.arrival))
    or lease.holding == '1' and HOLDING or LAST
  return lease.host .. '\n' .. order .. '\n' .. id
end

local function remove(id, lease)
  if lease.arrival ~= '0' then
    redis.call('ZREM', WAITING, queued(id, lease))
  end
  redis.call('ZREM', HOSTS, hosted(id, lease))
  holding = holding - tonumber(lease.holding)
end

local function put(id, lease)
  if lease.arrival ~= '0' then
    redis.call('ZADD', WAITING, 0, queued(id, lease))
  end
  redis.call('ZADD', HOSTS, 0, hosted(id, lease))
  redis.call('ZADD', DUE, lease.expires, id)
  redis.call('ZADD', TENANTS, 0, lease.tenant .. '\n' .. id)
  redis.call('HSET', RECORDS, id, pack(lease))
  redis.call('HSETNX', GATEWAYS, lease.host, text(clock + LIVE)) -- its record may have been lost
  holding = holding + tonumber(lease.holding)
end

local function add(id, lease)
  version = version + 1
  lease.revision = text(version)
  put(id, lease)
end

-- The gateway that hosts the lease is to look at it. The version tells this mail from an earlier one, which may just be read.
local function tell(id, lease)
  redis.call('ZADD', MAIL, 0, hosted(text(version) .. '\n' .. id, lease))
end

-- The members of a sorted set that begin with a name and a line feed.
local function range(set, name, most)
  return redis.call('ZRANGEBYLEX', set, '[' .. name .. '\n', '(' .. name .. AFTER, 'LIMIT', 0, most)
end

-- Ended leases are kept by their end and by their tenant.
local function ended(tenant, untilWhen, id)
  return tenant .. '\n' .. string.format('%016.0f', untilWhen) .. '\n' .. id
end

local function isEnded(tenant, id)
  local untilWhen = tonumber(redis.call('ZSCORE', ENDED, tenant .. '\n' .. id) or 0)
  return untilWhen > clock
end

local function forget(tenant, id)
  local untilWhen = redis.call('ZSCORE', ENDED, tenant .. '\n' .. id)
  if untilWhen then
    redis.call('ZREM', ENDED, tenant .. '\n' .. id)
    redis.call('ZREM', ENDED_OF, ended(tenant, tonumber(untilWhen), id))
  end
end

local function remember(tenant, id, time)
  if time <= 0 then
    return
  end
  forget(tenant, id)
  redis.call('ZADD', ENDED, text(clock + time), tenant .. '\n' .. id)
  redis.call('ZADD', ENDED_OF, 0, ended(tenant, clock + time, id))
  if redis.call('ZLEXCOUNT', ENDED_OF, '[' .. tenant .. '\n', '(' .. tenant .. AFTER) > MOST_ENDED then
    forget(tenant, string.match(range(ENDED_OF, tenant, 1)[1], '[^\n]*$'))
  end
end

local function finish(id, lease)
  if lease.holding == '1' or lease.arrival ~= '0' then
    remember(lease.tenant, id, tonumber(lease.remembered))
  end
  remove(id, lease)
  redis.call('ZREM', DUE, id)
  redis.call('ZREM', TENANTS, lease.tenant .. '\n' .. id)
  redis.call('HDEL', RECORDS, id)
  version = version + 1
  tell(id, lease)
end

-- Writes may have been lost. A later version is always larger, and so is a later token.
local function lost()
  epoch = math.max(epoch, seenEpoch) + 1
  version = math.max(version, seenVersion)
  token = math.max(token, wall * 1000) + LOST_TOKENS
  recovering = clock + LIVE + failover
end

-- Tokens are microseconds of the clock, as those of a gateway alone.
local function nextToken(above)
  token = math.max(token + 1, above + 1, wall * 1000)
  return text(token)
end

-- Nobody has called for a while, so no gateway could say that it lives.
local function allLive()
  local all = redis.call('HGETALL', GATEWAYS)
  for i = 1, #all, 2 do
    if all[i + 1] ~= '0' then
      redis.call('HSET', GATEWAYS, all[i], text(clock + LIVE))
    end
  end
end

local lastClock = clock
if epoch == 0 then
  clock = most > 0 and most or wall
  isFresh = most == 0
  lost()
else
  clock = math.max(clock, math.min(clock + wall - lastWall, most > 0 and most or clock + MOST_UNSEEN))
  if lastServer ~= server or seenEpoch > epoch or (seenEpoch == epoch and seenVersion > version) then
    lost()
  end
end
if isFresh and most > 0 and seenEpoch < epoch then
  -- The first gateway that knows the clock of the lost book: its records are of that clock.
  recovering = math.max(recovering - clock, 0) + most
  clock = most
  isFresh = false
  allLive()
elseif clock - lastClock > 1000 then
  allLive()
end

local command, id = ARGV[6], ARGV[7]
local isRecovering = clock < recovering
isFresh = isFresh and isRecovering
local isRefused = isRecovering and command ~= 'live' and command ~= 'again' and command ~= 'leave'
local expired = {}

-- The lease with this id, if it has not expired.
local function current(id)
  local lease = find(id)
  if lease and not isRecovering and tonumber(lease.expires) <= clock then
    expired[#expired + 1] = id
    expired[#expired + 1] = pack(lease)
    finish(id, lease)
    return nil
  end
  return lease
end

if not isRecovering then
  local old = redis.call('ZRANGEBYSCORE', ENDED, '-inf', text(clock), 'LIMIT', 0, MOST_DUE)
  for i = 1, #old do
    forget(string.match(old[i], '^([^\n]*)\n(.*)$'))
  end
end

local due = isRecovering and {} or redis.call('ZRANGEBYSCORE', DUE, '-inf', text(clock), 'LIMIT', 0, MOST_DUE)
for i = 1, #due do
  if not current(due[i]) then
    redis.call('ZREM', DUE, due[i])
  end
end

local function answer(values)
  redis.call('HSET', BOOK, 'clock', text(clock), 'wall', text(wall), 'server', server, 'epoch', text(epoch),
    'version', text(version), 'token', text(token), 'serial', text(serial), 'arrival', text(arrival), 'holding', text(holding),
    'recovering', text(recovering), 'fresh', isFresh and '1' or '0')
  local all = { text(epoch), text(version), text(clock), isRefused and '1' or '0', text(#expired / 2) }
  for i = 1, #expired do
    all[#all + 1] = expired[i]
  end
  for i = 1, #values do
    all[#all + 1] = values[i]
  end
  return all
end

local function place(id, lease)
  if lease.arrival == '0' then
    return '0'
  end
  local first = '[' .. lease.queue .. '\n' .. lease.tenant .. '\n'
  return text(redis.call('ZLEXCOUNT', WAITING, first, '[' .. queued(id, lease)))
end

-- The record and the place in the queue; empty when there is no such lease.
local function shown(id, lease)
  if not lease then
    return {}
  end
  return { pack(lease), place(id, lease) }
end

if isRefused then
  return answer({})
end

if command == 'read' then
  return answer(shown(id, current(id)))
end

-- open id, expires in, host, tenant, remembered, rest: a lease without permits. Answers 1; 0 when a lease has this id, and 2 when one had it
-- that is remembered.
if command == 'open' then
  if current(id) then
    return answer({ '0' })
  elseif isEnded(ARGV[10], id) then
    return answer({ '2' })
  end
  serial = serial + 1
  add(id, {
    serial = text(serial), token = '0', expires = text(clock + tonumber(ARGV[8])), holding = '0', arrival = '0', host = ARGV[9],
    tenant = ARGV[10], queue = '', wanted = '0', since = '0', remembered = ARGV[11], rest = ARGV[12]
  })
  return answer({ '1' })
end

-- change id, revision, expires, holding, host, queue ('' when it does not wait), wanted, place (NEW, KEPT, or MOVED to another queue),
-- whether it gets a token (0 or 1), the token that this must exceed, gateway, rest: answers 1 and what is recorded now; 0 and that, when it has
-- changed.
if command == 'change' then
  local lease = current(id)
  if not lease or lease.revision ~= ARGV[8] then
    local found = shown(id, lease)
    return answer({ '0', found[1], found[2] })
  end
  local former = { host = lease.host, arrival = lease.arrival }
  remove(id, lease)
  lease.expires, lease.holding, lease.host = ARGV[9], ARGV[10], ARGV[11]
  lease.queue, lease.wanted = ARGV[12], ARGV[13]
  if lease.queue == '' then
    lease.arrival, lease.since = '0', '0'
  elseif ARGV[14] ~= 'KEPT' then
    arrival = arrival + 1
    lease.arrival = text(arrival)
    lease.since = ARGV[14] == 'NEW' and text(clock) or lease.since
  end
  if ARGV[15] == '1' then
    lease.token = nextToken(tonumber(ARGV[16]))
  end
  lease.rest = ARGV[18]
  add(id, lease)
  if former.host ~= ARGV[17] then
    tell(id, former)
  end
  local found = shown(id, lease)
  return answer({ '1', found[1], found[2] })
end

-- end id, and whether it is remembered (0 or 1), or 2 to end only a lease that neither holds permits nor waits: answers the record, if it was
-- ended.
if command == 'end' then
  local lease = current(id)
  if not lease or ARGV[8] == '2' and (lease.holding == '1' or lease.arrival ~= '0') then
    return answer({})
  end
  finish(id, lease)
  if ARGV[8] == '0' then
    forget(lease.tenant, id)
  end
  return answer({ pack(lease) })
end

-- bury id, tenant, time: remembers an ended lease that the book does not know.
if command == 'bury' then
  if not current(id) then
    remember(ARGV[8], id, tonumber(ARGV[9]))
  end
  return answer({})
end

-- again id, record: a gateway knows a record that the book may have lost. A later one stays.
if command == 'again' then
  local known = find(id)
  local lease = unpacked(ARGV[8])
  if isEnded(lease.tenant, id) or known and tonumber(known.revision) >= tonumber(lease.revision) then
    return answer({ '0' })
  end
  if known then
    remove(id, known)
  end
  if lease.arrival ~= '0' then
    arrival = arrival + 1
    lease.arrival = text(arrival)
  end
  version = math.max(version, tonumber(lease.revision))
  serial = math.max(serial, tonumber(lease.serial))
  token = math.max(token, tonumber(lease.token))
  put(id, lease)
  return answer({ '1' })
end

-- live gateway, whether it takes leases of gateways that have ended (0 or 1), a secret, and for how long the gateways have had that ('' for a
-- new one), then the mail that it has read: answers whether the book knew it (0 or 1), the secret of all gateways and for how long they have
-- had it ('' when there is none yet), and its mail, each with the id of a lease in its end.
if command == 'live' then
  local gateway = id
  local known = redis.call('HEXISTS', GATEWAYS, gateway)
  redis.call('HSET', GATEWAYS, gateway, text(clock + LIVE))
  for i = 11, #ARGV do
    redis.call('ZREM', MAIL, gateway .. '\n' .. ARGV[i])
  end
  local secret = redis.call('HMGET', BOOK, 'secret', 'began')
  -- While it is not certain that no other gateway knows one, a new one does not count.
  if not secret[1] and (ARGV[10] ~= '' or not isRecovering) then
    secret = { ARGV[9], text(clock - (tonumber(ARGV[10]) or 0)) }
    redis.call('HSET', BOOK, 'secret', secret[1], 'began', secret[2])
  end
  local all = redis.call('HGETALL', GATEWAYS)
  local adopted = 0
  for i = 1, #all, 2 do
    if ARGV[8] == '1' and not isRecovering and tonumber(all[i + 1]) <= clock then
      local left = range(HOSTS, all[i], MOST_ADOPTED - adopted)
      for j = 1, #left do
        local leaseId = string.match(left[j], '[^\n]*$')
        local lease = find(leaseId)
        redis.call('ZREM', HOSTS, left[j])
        if lease then
          remove(leaseId, lease)
          lease.host = gateway
          add(leaseId, lease)
          tell(leaseId, lease)
        end
        adopted = adopted + 1
      end
      if adopted < MOST_ADOPTED then
        redis.call('ZREMRANGEBYLEX', MAIL, '[' .. all[i] .. '\n', '(' .. all[i] .. AFTER)
        redis.call('HDEL', GATEWAYS, all[i])
      end
    end
  end
  local mail = range(MAIL, gateway, MOST_MAIL)
  local told = { text(known), secret[1] or '', secret[1] and text(clock - tonumber(secret[2])) or '' }
  for i = 1, #mail do
    told[#told + 1] = string.sub(mail[i], #gateway + 2)
  end
  return answer(told)
end

-- leave gateway: others take its leases.
if command == 'leave' then
  if redis.call('HEXISTS', GATEWAYS, id) == 1 then
    redis.call('HSET', GATEWAYS, id, '0')
  end
  return answer({})
end

-- ids, or ids of a tenant.
if command == 'ids' then
  if not id then
    return answer(redis.call('HKEYS', RECORDS))
  end
  local own = redis.call('ZRANGEBYLEX', TENANTS, '[' .. id .. '\n', '(' .. id .. AFTER)
  for i = 1, #own do
    own[i] = string.sub(own[i], #id + 2)
  end
  return answer(own)
end

-- count, or count of a tenant: open, holding, waiting leases.
if command == 'count' then
  if id then
    return answer({ text(redis.call('ZLEXCOUNT', TENANTS, '[' .. id .. '\n', '(' .. id .. AFTER)) })
  end
  return answer({ text(redis.call('HLEN', RECORDS)), text(holding), text(redis.call('ZCARD', WAITING)) })
end

-- waiting pool: the entries of its queue.
return answer(redis.call('ZRANGEBYLEX', WAITING, '[' .. id .. '\n', '(' .. id .. AFTER))
