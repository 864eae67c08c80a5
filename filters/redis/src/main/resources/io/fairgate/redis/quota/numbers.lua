-- Whole numbers. Lua computes them exactly below 2^53. Times are microseconds.
local NEVER = -1
local LONGEST = 9000000000000000 -- longer waits, of more than 285 years, are reported as this

-- Without this, numbers of more than 14 digits lose their last ones.
local function text(number)
  return string.format('%.0f', number)
end

-- Quotient and rest. Below 2^53, a / b is not rounded up to a whole number: it is further below that than the half of a step.
local function divide(a, b)
  local quotient = math.floor(a / b)
  return quotient, a - quotient * b
end

-- Quotient and rest of a * b / c, for a below 2^49, and b and c below 2^45; the product may be longer than 53 bits.
local function divideProduct(a, b, c)
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
