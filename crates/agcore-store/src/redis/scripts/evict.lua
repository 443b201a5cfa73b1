-- Removes items that have not changed since they were judged. Returns their number.
-- Arguments: the name of the tenant, the number of items, and for each: its id, the time of its last save, the number of its
-- recalls.

local name = argument()
local keys = tenant(0)
local wrong = wrong_type(keys)
if wrong then
  return wrong
end
local removed = 0
for _ = 1, number() do
  local id, updated, recalls = argument(), argument(), argument()
  local item = redis.call('HMGET', keys.item .. id, 'updated', 'recalls')
  if item[1] == updated and (item[2] or '0') == recalls then
    remove(keys, id)
    removed = removed + 1
  end
end
forget_if_empty(keys, name)
return removed
