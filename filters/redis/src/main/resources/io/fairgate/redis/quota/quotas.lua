-- A batch of one gateway: charges, checks and settlements of quotas. Each call has the effect of all of its quotas or of none.
--
-- KEYS: the gateway's last batch, then the usages. ARGV from 2: sequence number of the batch, then for each call
--   what: charge, check, balances, settle, prepay (charges a chunk), close (ends a chunk) or nothing
--   units: of a settlement, the units in addition to those charged; below 0 to give some back. Of a prepayment, the most to charge. Of a
--     closing, below 0 what was not used of the chunk
--   enforced: of how many quotas, which come first, a refusal counts. Of a prepayment instead, the least to charge
--   count: of its quotas, and for each of them
--     place of its key, kind (rate, sliding or window), limit, two numbers of the kind, mark (of a settlement or closing, else '')
-- Answers the time, then for each call
--   outcome, units charged, count of the quotas that follow, and for each of them
--     units left, time until the call would pass, time until nothing is used (NEVER for both when that does not happen), mark
-- A batch that is repeated has no effect again. If it has charges or settlements, it has the same answer.
local LAST = KEYS[1]
local REMEMBERED = 3600000 -- ms

-- So much of what is left may be charged by one call before requests ask for it.
local PART_LEFT = 1 / 16

local sequence = tonumber(ARGV[2])
local done, last = string.match(redis.call('GET', LAST) or '', '^(%d+) (.*)$')
if done and tonumber(done) == sequence then
  return cmsgpack.unpack(last)
elseif done and tonumber(done) > sequence then
  return redis.error_reply('STALE a later batch was executed')
end

local KINDS = { rate = rate, sliding = sliding, window = window }
local usages = {} -- by the place of the key; read when a call needs it
local changed = {} -- by the place of the key, the quota that changed it last

-- Never nil: a usage that cannot be read is one of another version, and must not count as unused.
local function read(place, kind)
  local usage = usages[place]
  if not usage then
    local packed = redis.pcall('GET', KEYS[place])
    if packed == false then
      usage = kind.new()
    else
      usage = type(packed) == 'string' and kind.read(packed) or { isUnreadable = true }
    end
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
local isRemembered = false -- whether the batch has calls that must not be executed twice

-- The waits of quotas from `from` on are those of a call that asks for so many units; the others let it pass.
local function tell(outcome, charged, quotas, count, asked, from, marks)
  answer[#answer + 1] = outcome
  answer[#answer + 1] = charged
  answer[#answer + 1] = count
  for i = 1, count do
    local units, wait, full = quotas[i].kind.balance(quotas[i].usage, quotas[i], i >= from and asked or 0)
    answer[#answer + 1] = units
    answer[#answer + 1] = wait
    answer[#answer + 1] = full
    answer[#answer + 1] = marks and marks[i] or ''
  end
end

-- A settlement or closing is made as far as usages can be read.
local function readable(quotas)
  local some = {}
  for i = 1, #quotas do
    if not quotas[i].usage.isUnreadable then
      some[#some + 1] = quotas[i]
    end
  end
  return some
end

-- Why the call has no effect; nil when it may have one.
local function impediment(quotas)
  for i = 1, #quotas do
    local quota = quotas[i]
    if quota.usage.isUnreadable then
      return 'UNREADABLE'
    elseif quota.kind == window and quota.second > 0 and (now < quota.first or now >= quota.second) then
      return 'OTHER_WINDOW' -- the gateway has computed the windows for another time than now
    end
  end
  return nil
end

-- Returns their marks.
local function charge(quotas, count, units)
  local marks = {}
  for i = 1, count do
    marks[i] = quotas[i].kind.charge(quotas[i].usage, quotas[i], units)
    changed[quotas[i].place] = quotas[i]
  end
  return marks
end

local function refused(quotas, from, to, units)
  for i = from, to do
    local quota = quotas[i]
    if quota.kind == rate and rate.refused(quota.usage, quota, units) then
      changed[quota.place] = quota
    end
  end
end

-- Quotas that are not enforced are charged all or none, as if they were enforced.
local function decide(what, units, enforced, quotas)
  if what == 'balances' then
    return tell('PASSED', 0, quotas, #quotas, 1, 1)
  elseif not pass(quotas, 1, enforced, units) then
    refused(quotas, 1, enforced, units)
    return tell('REFUSED', 0, quotas, enforced, units, 1)
  end
  local isWhole = pass(quotas, enforced + 1, #quotas, units)
  if not isWhole then
    refused(quotas, enforced + 1, #quotas, units)
  end
  local charged = what == 'charge' and units or 0
  local marks = charged > 0 and charge(quotas, isWhole and #quotas or enforced, units)
  tell(isWhole and 'PASSED' or 'PASSED_BUT', charged, quotas, #quotas, units, isWhole and #quotas + 1 or enforced + 1, marks)
end

-- Charges all quotas, also those that are not enforced: the nearer one is to its limit, the less, and at last nothing.
local function prepay(most, least, quotas)
  local units = most
  for i = 1, #quotas do
    local quota = quotas[i]
    local left = quota.kind.balance(quota.usage, quota, 0)
    units = math.min(units, math.floor(left * PART_LEFT))
    if quota.kind == rate and not rate.mayPrepay(quota.usage) then
      units = 0
    end
  end
  if units < least then
    return tell('PASSED', 0, quotas, 0)
  end
  local marks = {}
  for i = 1, #quotas do
    local quota = quotas[i]
    marks[i] = (quota.kind.prepay or quota.kind.charge)(quota.usage, quota, units)
    changed[quota.place] = quota
  end
  tell('PASSED', units, quotas, #quotas, 0, #quotas + 1, marks)
end

-- Answers the marks for settlements of requests that have used the chunk.
local function close(more, quotas)
  local marks = {}
  for i = 1, #quotas do
    local quota = quotas[i]
    local isChanged, mark = (quota.kind.close or quota.kind.settle)(quota.usage, quota, quota.mark, more)
    marks[i] = mark or quota.mark
    if isChanged then
      changed[quota.place] = quota
    end
  end
  tell('PASSED', 0, quotas, #quotas, 0, #quotas + 1, marks)
end

local function execute(what, units, enforced, quotas)
  for i = 1, #quotas do
    if quotas[i].kind.look(quotas[i].usage, quotas[i]) then
      changed[quotas[i].place] = quotas[i]
    end
  end
  if what == 'prepay' then
    return prepay(units, enforced, quotas)
  elseif what == 'close' then
    return close(units, quotas)
  elseif what ~= 'settle' then
    return decide(what, units, enforced, quotas)
  end
  for i = 1, #quotas do
    if quotas[i].kind.settle(quotas[i].usage, quotas[i], quotas[i].mark, units) then
      changed[quotas[i].place] = quotas[i]
    end
  end
  tell('PASSED', 0, quotas, 0)
end

while at <= #ARGV do
  local what, units, enforced = argument(), tonumber(argument()), tonumber(argument())
  local quotas = readQuotas(tonumber(argument()))
  if what == 'settle' or what == 'close' then
    quotas = readable(quotas)
  end
  isRemembered = isRemembered or not (what == 'check' or what == 'balances')
  local why = what == 'nothing' and 'NOTHING' or impediment(quotas)
  if why then
    tell(why, 0, quotas, 0)
  else
    execute(what, units, enforced, quotas)
  end
end

-- All is computed before the first write: an error in between would leave a part of the batch to be executed again.
local packedAnswer = isRemembered and text(sequence) .. ' ' .. cmsgpack.pack(answer)
local writes = {}
for place, quota in pairs(changed) do
  local packed, micros = quota.kind.write(quota.usage, quota)
  if micros == NEVER or micros >= LONGEST then
    writes[#writes + 1] = { 'SET', KEYS[place], packed }
  else
    writes[#writes + 1] = { 'SET', KEYS[place], packed, 'PX', text(math.floor(micros / 1000) + 1000) }
  end
end
for i = 1, #writes do
  redis.call(unpack(writes[i]))
end
if packedAnswer then
  redis.call('SET', LAST, packedAnswer, 'PX', REMEMBERED)
end
return answer
