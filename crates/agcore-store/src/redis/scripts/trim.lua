-- Removes the records before a number. The stream keeps its end.
-- Keys: the end of the stream, its records. Arguments: the number.

local last = tonumber(redis.call('GET', KEYS[1]) or '0')
if not last then
  return redis.error_reply('DAMAGED its end is not a number')
end
local count = redis.call('LLEN', KEYS[2])
local excess = math.min(tonumber(ARGV[1]) - (last - count + 1), count)
if excess > 0 then
  redis.call('LTRIM', KEYS[2], excess, -1)
end
return redis.status_reply('OK')
