-- A batch of one gateway: charges, checks and settlements of quotas. Each call has the effect of all of its quotas or of none.
-- Numbers are whole and below 2^53, so that Lua computes them exactly. Times are microseconds.
--
-- KEYS: the gateway's last batch, then the usages. ARGV from 2: sequence number of the batch, then for each call
--   what: charge, check, balances or settle
--   units: of a settlement, the units in addition to those charged; below 0 to give some back
--   enforced: of how many quotas, which come first, a refusal counts
--   count: of its quotas, and for each of them
--     place of its key, kind (rate, sliding or window), limit, two numbers of the kind, mark (of a settlement, else '')
-- Answers the time, then for each call
--   outcome, count of the quotas that follow, and for each of them
--     units left, time until the call would pass, time until nothing is used (NEVER for both when that does not happen), mark
-- A batch that is repeated has no effect again, and the same answer.
local LAST = KEYS[1]
local REMEMBERED = 3600000 -- ms
local NEVER = -1
local LONGEST = 9000000000000000 -- longer waits, of more than 285 years, are reported as this
local DAY = 86400000000
local PARTS = 60 -- of a sliding window

-- Without this, numbers of more than 14 digits lose their last ones.
local function text(number)
  return string.format('%.0f', number)
end

local sequence = tonumber(ARGV[2])
local last = redis.call('GET', LAST)
if last then
  local space = string.find(last, ' ', 1, true)
  local done = tonumber(string.sub(last, 1, space - 1))
  if done == sequence then
    return cmsgpack.unpack(string.sub(last, space + 1))
  elseif done > sequence then
    return redis.error_reply('STALE a later batch was executed')
  end
end

-- ---- whole numbers ----

-- Quotient and rest. Below 2^53, a / b is not rounded up to a whole number: it is further below that than the half of a step.
local function divide(a, b)
  local quotient = math.floor(a / b)
  return quotient, a - quotient * b
end

-- Quotient and rest of a * b / c, for a below 2^49, and b and c below 2^45; the product may be longer than 53 bits.
local function share(a, b, c)
  local quotient, rest = 0, 0
  for shift = 42, 0, -7 do
    local digit = math.floor(a / 2 ^ shift) % 128
    local part
    part, rest = divide(rest * 128 + digit * b, c)
    quotient = quotient * 128 + part
  end
  return quotient, rest
end

local function divideUp(a, b)
  local quotient, rest = divide(a, b)
  return rest > 0 and quotient + 1 or quotient
end

-- ---- rates: the leaky bucket of package io.fairgate.quota.embedded. A unit has as many parts as the window has microseconds. ----

local rate = {}

function rate.read(packed)
  local units, parts, at, made, ever, limit, burst =
    string.match(packed, '^rate (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  if not units then
    return { units = 0, parts = 0, at = now, made = text(now), ever = 0, limit = 0, burst = 0 }
  end
  return {
    units = tonumber(units), parts = tonumber(parts), at = tonumber(at), made = made, ever = tonumber(ever),
    limit = tonumber(limit), burst = tonumber(burst)
  }
end

function rate.write(usage, quota)
  local micros = share(usage.units + 1, quota.per, quota.limit)
  return string.format('rate %s %s %s %s %s %s %s', text(usage.units), text(usage.parts), text(usage.at), usage.made,
    text(usage.ever), text(usage.limit), text(usage.burst)), micros
end

function rate.look(usage, quota)
  quota.burst, quota.per = quota.first, quota.second
  local units, parts, at = usage.units, usage.parts, usage.at
  if units >= quota.burst and (quota.limit ~= usage.limit or quota.burst ~= usage.burst) then
    units, parts = quota.burst, 0
  end
  local elapsed = now - at
  if elapsed > 0 then
    at = now
    if elapsed / quota.per * quota.limit > units + 2 then
      units, parts = 0, 0
    else
      local whole, rest = divide(elapsed, quota.per)
      local back, backParts = share(quota.limit, rest, quota.per)
      units = units - whole * quota.limit - back
      parts = parts - backParts
      if parts < 0 then
        units, parts = units - 1, parts + quota.per
      end
      if units < 0 then
        units, parts = 0, 0
      end
    end
  end
  quota.units, quota.parts, quota.at = units, parts, at
end

function rate.passes(usage, quota, asked)
  if asked > quota.burst then
    return false
  end
  local tooMany = asked - (quota.burst - quota.units)
  return tooMany < 0 or (tooMany == 0 and quota.parts == 0)
end

local function keep(usage, quota, units)
  usage.units, usage.parts, usage.at = units, quota.parts, quota.at
  usage.limit, usage.burst = quota.limit, quota.burst
  quota.units = units
end

function rate.charge(usage, quota, units)
  keep(usage, quota, quota.units + units)
  usage.ever = usage.ever + units
  return usage.made .. ':' .. text(usage.ever)
end

function rate.settle(usage, quota, mark, more)
  if more > 0 then
    keep(usage, quota, math.min(math.max(quota.units, quota.burst + quota.limit), quota.units + more))
    usage.ever = usage.ever + more
  else
    local made, ever = string.match(mark, '^(%d+):(%d+)$')
    if made == usage.made then -- else what was charged has come back with the time
      local since = usage.ever - tonumber(ever)
      keep(usage, quota, quota.units - math.max(0, math.min(-more, quota.units - since)))
    end
  end
end

-- The time until that many units and the part of a unit have come back.
local function returned(quota, units)
  local micros, rest = share(units, quota.per, quota.limit)
  if micros >= LONGEST then
    return LONGEST
  end
  return micros + divideUp(rest + quota.parts, quota.limit) + quota.at - now
end

function rate.balance(usage, quota, asked)
  local left = math.max(0, quota.burst - quota.units - (quota.parts > 0 and 1 or 0))
  local wait = 0
  if asked > quota.burst then
    wait = NEVER
  elseif not rate.passes(usage, quota, asked) then
    wait = returned(quota, asked - (quota.burst - quota.units))
  end
  return left, wait, (quota.units == 0 and quota.parts == 0) and 0 or returned(quota, quota.units)
end

-- ---- sliding windows: a count for each of the last 61 parts ----

local sliding = {}

function sliding.read(packed)
  local usage = { latest = 0, used = 0, counts = {} }
  local latest, counts = string.match(packed, '^sliding (%d+)([%d: ]*)$')
  if latest then
    usage.latest = tonumber(latest)
    for part, units in string.gmatch(counts, '(%d+):(%d+)') do
      usage.counts[tonumber(part)] = tonumber(units)
      usage.used = usage.used + tonumber(units)
    end
  end
  return usage
end

function sliding.write(usage, quota)
  local packed = { 'sliding', text(usage.latest) }
  for part = usage.latest - PARTS, usage.latest do
    if usage.counts[part] then
      packed[#packed + 1] = text(part) .. ':' .. text(usage.counts[part])
    end
  end
  return table.concat(packed, ' '), (PARTS + 2) * quota.first
end

function sliding.look(usage, quota)
  usage.latest = math.max(usage.latest, (divide(now, quota.first)))
  for part, units in pairs(usage.counts) do
    if part < usage.latest - PARTS then
      usage.counts[part] = nil
      usage.used = usage.used - units
    end
  end
end

function sliding.passes(usage, quota, asked)
  return asked <= quota.limit - usage.used
end

local function add(usage, part, units)
  usage.counts[part] = (usage.counts[part] or 0) + units
  usage.used = usage.used + units
end

function sliding.charge(usage, _, units)
  add(usage, usage.latest, units)
  return text(usage.latest)
end

function sliding.settle(usage, quota, mark, more)
  if more > 0 then
    add(usage, usage.latest, math.min(more, math.max(0, 2 * quota.limit - usage.used)))
  else -- nothing when the part has left the window
    local part = tonumber(mark)
    add(usage, part, math.max(more, -(usage.counts[part] or 0)))
  end
end

-- The time until at least that many of the used units have left every window.
local function left(usage, quota, units)
  local gone = 0
  local part = usage.latest - PARTS - 1
  while gone < units do
    part = part + 1
    gone = gone + (usage.counts[part] or 0)
  end
  return (part + PARTS + 1) * quota.first - now
end

function sliding.balance(usage, quota, asked)
  local wait = 0
  if asked > quota.limit then
    wait = NEVER
  elseif not sliding.passes(usage, quota, asked) then
    wait = left(usage, quota, usage.used + asked - quota.limit)
  end
  return math.max(0, quota.limit - usage.used), wait, usage.used == 0 and 0 or left(usage, quota, usage.used)
end

-- ---- windows: of a calendar, from its start to its end; those of a total have neither ----

local window = {}

function window.read(packed)
  local start, ends, used = string.match(packed, '^window (%d+) (%d+) (%d+)$')
  return start and { start = tonumber(start), ends = tonumber(ends), used = tonumber(used) } or {}
end

function window.write(usage)
  -- Longer than its window: the clock may be set back into it.
  return string.format('window %s %s %s', text(usage.start), text(usage.ends), text(usage.used)),
    usage.ends > 0 and math.max(0, usage.ends - now) + 2 * DAY or NEVER
end

-- A count is forgotten only for a window that lies wholly after it.
function window.look(usage, quota)
  quota.start, quota.ends = quota.first, quota.second
  quota.used = usage.used or 0
  if quota.ends > 0 and usage.start then
    if quota.start >= usage.ends then
      quota.used = 0
    elseif usage.start >= quota.ends then
      quota.start, quota.ends = usage.start, usage.ends
    end
  end
end

function window.passes(_, quota, asked)
  return asked <= quota.limit - quota.used
end

local function use(usage, quota, used)
  usage.start, usage.ends, usage.used = quota.start, quota.ends, used
  quota.used = used
end

function window.charge(usage, quota, units)
  use(usage, quota, quota.used + units)
  return text(quota.start)
end

function window.settle(usage, quota, mark, more)
  if more > 0 or quota.start == tonumber(mark) then
    use(usage, quota, math.max(0, math.min(math.max(quota.used, 2 * quota.limit), quota.used + more)))
  end
end

function window.balance(_, quota, asked)
  local untilEnd = quota.ends > 0 and quota.ends - now or NEVER
  local wait = 0
  if asked > quota.limit then
    wait = NEVER
  elseif asked > quota.limit - quota.used then
    wait = untilEnd
  end
  return math.max(0, quota.limit - quota.used), wait, quota.used == 0 and 0 or untilEnd
end

-- ---- calls ----

local KINDS = { rate = rate, sliding = sliding, window = window }
local usages = {} -- by the place of the key; read when a call needs it
local changed = {} -- by the place of the key, the quota that changed it last

local function read(place, kind)
  local usage = usages[place]
  if not usage then
    local packed = redis.pcall('GET', KEYS[place])
    usage = kind.read(type(packed) == 'string' and packed or '')
    usages[place] = usage
  end
  return usage
end

local at = 3
local function argument()
  local value = ARGV[at]
  at = at + 1
  return value
end

local function readQuotas(count)
  local quotas = {}
  for i = 1, count do
    local place, kind = tonumber(argument()), KINDS[argument()]
    quotas[i] = {
      place = place, kind = kind, limit = tonumber(argument()), first = tonumber(argument()), second = tonumber(argument()),
      mark = argument(), usage = read(place, kind)
    }
  end
  return quotas
end

local function pass(quotas, from, to, units)
  for i = from, to do
    if not quotas[i].kind.passes(quotas[i].usage, quotas[i], units) then
      return false
    end
  end
  return true
end

local answer = { now }

-- The waits of quotas from `from` on are those of a call that asks for so many units; the others let it pass.
local function tell(outcome, quotas, count, asked, from, marks)
  answer[#answer + 1] = outcome
  answer[#answer + 1] = count
  for i = 1, count do
    local units, wait, full = quotas[i].kind.balance(quotas[i].usage, quotas[i], i >= from and asked or 0)
    answer[#answer + 1] = units
    answer[#answer + 1] = wait
    answer[#answer + 1] = full
    answer[#answer + 1] = marks and marks[i] or ''
  end
end

-- The gateway has computed the windows for another time than now.
local function isAnotherWindow(quotas)
  for i = 1, #quotas do
    local quota = quotas[i]
    if quota.kind == window and quota.second > 0 and (now < quota.first or now >= quota.second) then
      return true
    end
  end
  return false
end

-- Quotas that are not enforced are charged all or none, as if they were enforced.
local function decide(what, units, enforced, quotas)
  if what == 'balances' then
    return tell('PASSED', quotas, #quotas, 1, 1)
  elseif not pass(quotas, 1, enforced, units) then
    return tell('REFUSED', quotas, enforced, units, 1)
  end
  local isWhole = pass(quotas, enforced + 1, #quotas, units)
  local marks = {}
  if what == 'charge' then
    for i = 1, isWhole and #quotas or enforced do
      marks[i] = quotas[i].kind.charge(quotas[i].usage, quotas[i], units)
      changed[quotas[i].place] = quotas[i]
    end
  end
  tell(isWhole and 'PASSED' or 'PASSED_BUT', quotas, #quotas, units, isWhole and #quotas + 1 or enforced + 1, marks)
end

while at <= #ARGV do
  local what, units, enforced = argument(), tonumber(argument()), tonumber(argument())
  local quotas = readQuotas(tonumber(argument()))
  if isAnotherWindow(quotas) then
    tell('OTHER_WINDOW', quotas, 0)
  else
    for i = 1, #quotas do
      quotas[i].kind.look(quotas[i].usage, quotas[i])
    end
    if what == 'settle' then
      for i = 1, #quotas do
        quotas[i].kind.settle(quotas[i].usage, quotas[i], quotas[i].mark, units)
        changed[quotas[i].place] = quotas[i]
      end
      tell('PASSED', quotas, 0)
    else
      decide(what, units, enforced, quotas)
    end
  end
end

for place, quota in pairs(changed) do
  local packed, micros = quota.kind.write(quota.usage, quota)
  if micros == NEVER or micros >= LONGEST then
    redis.call('SET', KEYS[place], packed)
  else
    redis.call('SET', KEYS[place], packed, 'PX', text(math.floor(micros / 1000) + 1000))
  end
end
redis.call('SET', LAST, text(sequence) .. ' ' .. cmsgpack.pack(answer), 'PX', REMEMBERED)
return answer
