-- Returns the number of the first record that is returned, and the records from a number on.
-- Keys: the end of the stream, its records. Arguments: the number.

local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if not last then
  return redis.error_reply('DAMAGED its end is not a number')
end
local first = last - redis.call('LLEN', KEYS[2]) + 1
local from = math.max(tonumber(ARGV[1]), first)
if from > last then
  return { '0', {} }
end
return { string.format('%.0f', from), redis.call('LRANGE', KEYS[2], from - first, -1) }
