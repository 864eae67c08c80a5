-- Sliding windows: the usage has a count for each of the last 61 parts of the window, by the number of the part since 1970.
local sliding = {}

local PARTS = 60

function sliding.new()
  return { latest = 0, used = 0, counts = {} }
end

function sliding.read(packed)
  local latest, counts = string.match(packed, '^sliding (%d+)([%d: ]*)$')
  if not latest then
    return nil
  end
  local usage = sliding.new()
  usage.latest = tonumber(latest)
  for part, units in string.gmatch(counts, '(%d+):(%d+)') do
    usage.counts[tonumber(part)] = tonumber(units)
  end
  for _, units in pairs(usage.counts) do
    usage.used = usage.used + units
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

-- Returns whether the usage has changed: when the clock was set back, its parts move back with it. A small step back may lead into the
-- part before; then time stands still.
function sliding.look(usage, quota)
  local current = divide(now, quota.first)
  if usage.latest == current + 1 then
    current = usage.latest
  end
  local back = math.max(0, usage.latest - current)
  if back > 0 then
    local moved = {}
    for part, units in pairs(usage.counts) do
      moved[part - back] = units
    end
    usage.counts = moved
  end
  usage.latest = current
  for part, units in pairs(usage.counts) do
    if part < current - PARTS then
      usage.counts[part] = nil
      usage.used = usage.used - units
    end
  end
  return back > 0
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

-- Returns whether the usage has changed.
function sliding.settle(usage, quota, mark, more)
  if more > 0 then
    add(usage, usage.latest, math.min(more, math.max(0, 2 * quota.limit - usage.used)))
  else
    local part = tonumber(mark) -- without a count when it has left the window
    if not usage.counts[part] then
      return false
    end
    add(usage, part, math.max(more, -usage.counts[part]))
  end
  return true
end

-- The time until at least that many of the used units have left every window.
local function untilGone(usage, quota, units)
  local gone = 0
  local part = usage.latest - PARTS - 1
  while gone < units and part < usage.latest do
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
    wait = untilGone(usage, quota, usage.used + asked - quota.limit)
  end
  return math.max(0, quota.limit - usage.used), wait, usage.used == 0 and 0 or untilGone(usage, quota, usage.used)
end
