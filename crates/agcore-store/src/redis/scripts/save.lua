-- Saves items, all or none.
-- Arguments: the time, the rules of expiry, the number of tenants and their names, the number of items, and for each: the index
-- of its tenant, its id, its user, the time of its creation, the number of its other members, and their names and values.

local now = argument()
local rules = expiry_rules()
local names, tenants = {}, {}
for index = 1, number() do
  names[index] = argument()
  tenants[index] = tenant(index - 1)
  local wrong = wrong_type(tenants[index])
  if wrong then
    return wrong
  end
end

local items = {}
for index = 1, number() do
  local item = { keys = tenants[number() + 1], id = argument(), user = argument(), created = argument(), members = {} }
  for member = 1, 2 * number() do
    item.members[member] = argument()
  end
  item.key = item.keys.item .. item.id
  local known = redis.call('HMGET', item.key, 'updated', 'created', 'user', 'recalls', 'score', 'recalled')
  item.old_user = known[3]
  local updated = tonumber(known[1] or '')
  if updated and tonumber(known[2] or '') and not is_expired(rules, item.id, updated) then
    item.created = known[2]
    for place, name in pairs({ [4] = 'recalls', [5] = 'score', [6] = 'recalled' }) do
      if known[place] then
        table.insert(item.members, name)
        table.insert(item.members, known[place])
      end
    end
  end
  items[index] = item
end

-- The first write must be one that the server refuses when its memory is full.
for _, name in ipairs(names) do
  redis.call('SADD', KEYS[1], name)
end
for _, item in ipairs(items) do
  if item.old_user and item.old_user ~= item.user then
    redis.call('ZREM', item.keys.owners, owned(item.old_user, item.id))
  end
  redis.call('DEL', item.key)
  redis.call('HSET', item.key, 'user', item.user, 'created', item.created, 'updated', now)
  for first = 1, #item.members, 1000 do
    redis.call('HSET', item.key, unpack(item.members, first, math.min(first + 999, #item.members)))
  end
  redis.call('ZADD', item.keys.ids, 0, item.id)
  redis.call('ZADD', item.keys.created, item.created, item.id)
  redis.call('ZADD', item.keys.updated, now, item.id)
  redis.call('ZADD', item.keys.owners, 0, owned(item.user, item.id))
end
return redis.status_reply('OK')
