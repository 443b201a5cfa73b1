-- Records a recall of an item, if it exists.
-- Arguments: the id, the score, the time.

local id, score, now = argument(), number(), argument()
local key = tenant(0).item .. id
local known = redis.call('HMGET', key, 'updated', 'recalls', 'score')
if known[1] then
  local recalls = (tonumber(known[2] or '') or 0) + 1
  local sum = (tonumber(known[3] or '') or 0) + score
  redis.call('HSET', key, 'recalls', string.format('%.0f', recalls), 'score', string.format('%.17g', sum), 'recalled', now)
end
return redis.status_reply('OK')
