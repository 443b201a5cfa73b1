-- Returns what a policy needs to judge the items in a range of ids, or nothing if there are not too many.
-- Arguments: the range, the number of items to keep.

local from, to, keep = argument(), argument(), number()
local keys = tenant(0)
if redis.call('ZLEXCOUNT', keys.ids, from, to) <= keep then
  return {}
end
local candidates = {}
for _, id in ipairs(redis.call('ZRANGEBYLEX', keys.ids, from, to)) do
  local item = redis.call('HMGET', keys.item .. id, 'created', 'updated', 'recalls', 'score', 'recalled')
  if item[1] and item[2] then
    table.insert(item, 1, id)
    candidates[#candidates + 1] = item
  end
end
return candidates
