-- Rates: the leaky bucket of package io.fairgate.quota.embedded. A unit has as many parts as the window has microseconds.
-- The usage has units and parts at a time, the time when it was made, the units that were ever charged, the numbers of the quota
-- that charged last, the number of the latest chunk, the time until which there are no new ones, and the chunks that gateways have at hand.
--
-- A chunk is charged when it ends. Until then its units count as used and do not come back: its gateway may use the last one just before
-- the end. So a unit never comes back before it is used, whatever else is charged or given back meanwhile.
local rate = {}

-- In microseconds. A chunk whose gateway does not end it ends by itself. Longer than gateways use one (PrepaidUnits.LONGEST).
local LONGEST_CHUNK = 2000000

-- Of all gateways and sets of quotas together. Each call reads them all.
local MOST_CHUNKS = 100

-- Sums of units count modulo this.
local MOST_EVER = 2 ^ 50

-- Gateways may have different numbers during a change. What is used above the new burst is forgiven only when none has charged with
-- other numbers for a minute; otherwise each would forgive what the other has let pass.
local FORGIVEN_AFTER = 60000000

function rate.new()
  return { units = 0, parts = 0, at = now, made = text(now), ever = 0, limit = 0, burst = 0, latest = 0, pause = 0, chunks = {} }
end

function rate.read(packed)
  local units, parts, at, made, ever, limit, burst, latest, pause, chunks =
    string.match(packed, '^rate (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)(.*)$')
  if not units then
    return nil
  end
  local usage = {
    units = tonumber(units), parts = tonumber(parts), at = tonumber(at), made = made, ever = tonumber(ever),
    limit = tonumber(limit), burst = tonumber(burst), latest = tonumber(latest), pause = tonumber(pause), chunks = {}
  }
  for chunk in string.gmatch(chunks, '%S+') do
    local number, size, ends = string.match(chunk, '^(%d+):(%d+):(%d+)$')
    if not number then
      return nil
    end
    usage.chunks[#usage.chunks + 1] = { number = tonumber(number), units = tonumber(size), ends = tonumber(ends) }
  end
  return usage
end

local function atHand(usage)
  local units = 0
  for _, chunk in ipairs(usage.chunks) do
    units = units + chunk.units
  end
  return units
end

-- Kept for a whole window also when less is used: the limit may be lowered.
function rate.write(usage, quota)
  local micros = divideProduct(usage.units + atHand(usage) + 1, quota.per, quota.limit)
  local packed = { string.format('rate %s %s %s %s %s %s %s %s %s', text(usage.units), text(usage.parts), text(usage.at), usage.made,
    text(usage.ever), text(usage.limit), text(usage.burst), text(usage.latest),
    text(usage.pause)) }
  for _, chunk in ipairs(usage.chunks) do
    packed[#packed + 1] = text(chunk.number) .. ':' .. text(chunk.units) .. ':' .. text(chunk.ends)
  end
  return table.concat(packed, ' '), math.max(quota.per, micros) + (#usage.chunks > 0 and LONGEST_CHUNK or 0)
end

-- What is used after a time, in units and parts.
local function after(elapsed, units, parts, quota)
  if elapsed / quota.per * quota.limit > units + 2 then
    return 0, 0
  end
  local whole, rest = divide(elapsed, quota.per)
  local back, backParts = divideProduct(quota.limit, rest, quota.per)
  units = units - whole * quota.limit - back
  parts = parts - backParts
  if parts < 0 then
    units, parts = units - 1, parts + quota.per
  end
  if units < 0 then
    return 0, 0
  end
  return units, parts
end

local function charged(usage, units)
  usage.ever = (usage.ever + units) % MOST_EVER
end

-- Charges chunks that have ended by themselves, each at its end.
local function endChunks(usage, quota)
  while usage.chunks[1] and usage.chunks[1].ends <= now do
    local chunk = table.remove(usage.chunks, 1)
    local at = math.max(usage.at, chunk.ends)
    local units, parts = after(at - usage.at, usage.units, usage.parts, quota)
    usage.units, usage.parts, usage.at = units + chunk.units, parts, at
    charged(usage, chunk.units)
  end
end

-- When the clock was set back, the time of the usage begins anew.
local function setBack(usage)
  usage.at = now
  usage.pause = math.min(usage.pause, now + LONGEST_CHUNK)
  for _, chunk in ipairs(usage.chunks) do
    chunk.ends = math.min(chunk.ends, now + LONGEST_CHUNK)
  end
end

-- Returns whether the usage has changed.
function rate.look(usage, quota)
  quota.burst, quota.per = quota.first, quota.second
  local chunks, isSetBack = #usage.chunks, now < usage.at
  if isSetBack then
    setBack(usage)
  end
  endChunks(usage, quota)
  local units, parts, elapsed = usage.units, usage.parts, now - usage.at
  local isOther = quota.limit ~= usage.limit or quota.burst ~= usage.burst
  if units >= quota.burst and isOther and elapsed > FORGIVEN_AFTER then
    units, parts = quota.burst, 0
  end
  quota.units, quota.parts = after(elapsed, units, parts, quota)
  quota.atHand = atHand(usage)
  return isSetBack or #usage.chunks < chunks
end

function rate.passes(_, quota, asked)
  if asked > quota.burst then
    return false
  end
  local tooMany = asked - (quota.burst - quota.units - quota.atHand)
  return tooMany < 0 or (tooMany == 0 and quota.parts == 0)
end

local function keep(usage, quota, units)
  usage.units, usage.parts, usage.at = units, quota.parts, now
  -- Until what is used above the burst is forgiven, the numbers stay those of the gateway that let it pass.
  if usage.limit == 0 or units + quota.atHand <= quota.burst then
    usage.limit, usage.burst = quota.limit, quota.burst
  end
  quota.units = units
end

function rate.charge(usage, quota, units)
  keep(usage, quota, quota.units + units)
  charged(usage, units)
  return usage.made .. ':' .. text(usage.ever)
end

-- A call was refused. If it would pass without chunks, there are no new ones until it can have been made again: otherwise one chunk would
-- follow another, and large requests would be refused as long as there are small ones. Returns whether the usage has changed.
function rate.refused(usage, quota, asked)
  local isHeldBack = quota.atHand > 0 and asked <= quota.burst - quota.units and not rate.passes(usage, quota, asked)
  if isHeldBack then
    usage.pause = now + 2 * LONGEST_CHUNK
  end
  return isHeldBack
end

function rate.mayPrepay(usage)
  return #usage.chunks < MOST_CHUNKS and now >= usage.pause
end

-- The number is a time, so that it is not used again when Redis has lost the latest writes.
function rate.prepay(usage, quota, units)
  usage.latest = math.max(usage.latest + 1, now)
  usage.chunks[#usage.chunks + 1] = { number = usage.latest, units = units, ends = now + LONGEST_CHUNK }
  quota.atHand = quota.atHand + units
  return usage.made .. ':chunk:' .. text(usage.latest)
end

-- Charges what was used of a chunk. Returns whether the usage has changed, and the mark of the charge.
function rate.close(usage, quota, mark, more)
  local made, number = string.match(mark, '^(%d+):chunk:(%d+)$')
  for i, chunk in ipairs(usage.chunks) do
    if made == usage.made and chunk.number == tonumber(number) then
      table.remove(usage.chunks, i)
      quota.atHand = quota.atHand - chunk.units
      return true, rate.charge(usage, quota, math.max(0, chunk.units + more))
    end
  end
  return false
end

-- Returns whether the usage has changed.
function rate.settle(usage, quota, mark, more)
  if more > 0 then
    keep(usage, quota, math.min(math.max(quota.units, quota.burst + quota.limit), quota.units + more))
    charged(usage, more)
    return true
  end
  local made, ever = string.match(mark, '^(%d+):(%d+)$')
  if not made then -- of a chunk that has ended by itself, or whose mark the gateway did not know yet: this comes back with the time
    return false
  end
  -- Very much, and so nothing is given back, when Redis has lost the charge.
  local since = (usage.ever - tonumber(ever)) % MOST_EVER
  local back = made == usage.made and math.max(0, math.min(-more, quota.units - since)) or 0
  if back > 0 then -- else what was charged has come back with the time
    keep(usage, quota, quota.units - back)
  end
  return back > 0
end

-- The time until that many units and the part of a unit have come back, if chunks are charged now.
local function untilBack(quota, units)
  local micros, rest = divideProduct(units, quota.per, quota.limit)
  return math.min(LONGEST, micros + divideUp(rest + quota.parts, quota.limit))
end

-- What is left, the time until so many units pass, and the time until nothing is used.
function rate.balance(usage, quota, asked)
  local used = quota.units + quota.atHand
  local units = math.max(0, quota.burst - used - (quota.parts > 0 and 1 or 0))
  local wait = 0
  if asked > quota.burst then
    wait = NEVER
  elseif not rate.passes(usage, quota, asked) then
    wait = untilBack(quota, asked - (quota.burst - used))
    local last = usage.chunks[#usage.chunks]
    if last and asked <= quota.burst - quota.units then
      wait = math.max(wait, last.ends - now)
    end
  end
  return units, wait, (used == 0 and quota.parts == 0) and 0 or untilBack(quota, used)
end
