-- Rates: the leaky bucket of package io.fairgate.quota.embedded. A unit has as many parts as the window has microseconds.
-- The usage has units and parts at a time, the time when it was made, the units that were ever charged, and the numbers of the quota
-- that charged last.
local rate = {}

-- Sums of units count modulo this.
local MOST_EVER = 2 ^ 50

-- Gateways may have different numbers during a change. What is used above the new burst is forgiven only when none has charged with
-- other numbers for a minute; otherwise each would forgive what the other has let pass.
local FORGIVEN_AFTER = 60000000

function rate.new()
  return { units = 0, parts = 0, at = now, made = text(now), ever = 0, limit = 0, burst = 0 }
end

function rate.read(packed)
  local units, parts, at, made, ever, limit, burst =
    string.match(packed, '^rate (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  return units and {
    units = tonumber(units), parts = tonumber(parts), at = tonumber(at), made = made, ever = tonumber(ever),
    limit = tonumber(limit), burst = tonumber(burst)
  }
end

-- Kept for a whole window also when less is used: the limit may be lowered.
function rate.write(usage, quota)
  local micros = divideProduct(usage.units + 1, quota.per, quota.limit)
  return string.format('rate %s %s %s %s %s %s %s', text(usage.units), text(usage.parts), text(usage.at), usage.made,
    text(usage.ever), text(usage.limit), text(usage.burst)), math.max(quota.per, micros)
end

-- Returns whether the usage has changed: when the clock was set back, its time begins anew.
function rate.look(usage, quota)
  quota.burst, quota.per = quota.first, quota.second
  local units, parts = usage.units, usage.parts
  local elapsed = now - usage.at
  if elapsed < 0 then
    usage.at = now
    quota.units, quota.parts = units, parts
    return true
  end
  local isChanged = quota.limit ~= usage.limit or quota.burst ~= usage.burst
  if units >= quota.burst and isChanged and elapsed > FORGIVEN_AFTER then
    units, parts = quota.burst, 0
  end
  if elapsed / quota.per * quota.limit > units + 2 then
    units, parts = 0, 0
  else
    local whole, rest = divide(elapsed, quota.per)
    local back, backParts = divideProduct(quota.limit, rest, quota.per)
    units = units - whole * quota.limit - back
    parts = parts - backParts
    if parts < 0 then
      units, parts = units - 1, parts + quota.per
    end
    if units < 0 then
      units, parts = 0, 0
    end
  end
  quota.units, quota.parts = units, parts
  return false
end

function rate.passes(_, quota, asked)
  if asked > quota.burst then
    return false
  end
  local tooMany = asked - (quota.burst - quota.units)
  return tooMany < 0 or (tooMany == 0 and quota.parts == 0)
end

local function keep(usage, quota, units)
  usage.units, usage.parts, usage.at = units, quota.parts, now
  -- Until what is used above the burst is forgiven, the numbers stay those of the gateway that let it pass.
  if usage.limit == 0 or units <= quota.burst then
    usage.limit, usage.burst = quota.limit, quota.burst
  end
  quota.units = units
end

function rate.charge(usage, quota, units)
  keep(usage, quota, quota.units + units)
  usage.ever = (usage.ever + units) % MOST_EVER
  return usage.made .. ':' .. text(usage.ever)
end

-- Returns whether the usage has changed.
function rate.settle(usage, quota, mark, more)
  if more > 0 then
    keep(usage, quota, math.min(math.max(quota.units, quota.burst + quota.limit), quota.units + more))
    usage.ever = (usage.ever + more) % MOST_EVER
    return true
  end
  local made, ever = string.match(mark, '^(%d+):(%d+)$')
  -- Very much, and so nothing is given back, when Redis has lost the charge.
  local since = (usage.ever - tonumber(ever)) % MOST_EVER
  local back = made == usage.made and math.max(0, math.min(-more, quota.units - since)) or 0
  if back > 0 then -- else what was charged has come back with the time
    keep(usage, quota, quota.units - back)
  end
  return back > 0
end

-- The time until that many units and the part of a unit have come back.
local function untilBack(quota, units)
  local micros, rest = divideProduct(units, quota.per, quota.limit)
  return math.min(LONGEST, micros + divideUp(rest + quota.parts, quota.limit))
end

-- What is left, the time until so many units pass, and the time until nothing is used.
function rate.balance(usage, quota, asked)
  local units = math.max(0, quota.burst - quota.units - (quota.parts > 0 and 1 or 0))
  local wait = 0
  if asked > quota.burst then
    wait = NEVER
  elseif not rate.passes(usage, quota, asked) then
    wait = untilBack(quota, asked - (quota.burst - quota.units))
  end
  return units, wait, (quota.units == 0 and quota.parts == 0) and 0 or untilBack(quota, quota.units)
end
