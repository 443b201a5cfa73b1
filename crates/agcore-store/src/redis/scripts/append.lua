-- Appends records to a stream if it ends where the writer expects it to end.
-- Keys: the end of the stream, its records. Arguments: the expected end, the new end, the records.

local kind = redis.call('TYPE', KEYS[2]).ok
if kind ~= 'list' and kind ~= 'none' then
  return redis.error_reply('WRONGTYPE ' .. KEYS[2] .. ' is a ' .. kind .. ' and not a list')
end
-- Compared as texts: numbers of Lua are not exact above 2^53.
local last = redis.call('GET', KEYS[1]) or '0'
if last ~= ARGV[1] then
  return { 0, last }
end
for first = 3, #ARGV, 1000 do
  redis.call('RPUSH', KEYS[2], unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
if #ARGV > 2 then
  redis.call('SET', KEYS[1], ARGV[2])
end
return { 1, ARGV[2] }
