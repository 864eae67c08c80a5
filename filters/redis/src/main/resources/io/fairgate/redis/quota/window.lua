-- Windows of a calendar, from a start to an end; those of a total have neither, and do not end.
local window = {}

local DAY = 86400000000

function window.new()
  return {}
end

function window.read(packed)
  local start, ends, used = string.match(packed, '^window (%d+) (%d+) (%d+)$')
  return start and { start = tonumber(start), ends = tonumber(ends), used = tonumber(used) }
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
  return false
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

-- Returns whether the usage has changed.
function window.settle(usage, quota, mark, more)
  if more < 0 and (quota.start ~= tonumber(mark) or quota.used == 0) then
    return false
  end
  use(usage, quota, math.max(0, math.min(math.max(quota.used, 2 * quota.limit), quota.used + more)))
  return true
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
