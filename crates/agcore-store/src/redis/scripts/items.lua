-- Shared by all scripts that work on items. A script reads and checks everything before its first write: Redis does not undo
-- the writes of a script that fails.
--
-- Keys: the set of tenants, then five for each tenant: three sorted sets, in which the order of the members is that of their
-- bytes or of their times, one of users and ids, and the beginning of the keys of its items.

local position = 0

local function argument()
  position = position + 1
  return ARGV[position]
end

local function number()
  return tonumber(argument())
end

local function tenant(index)
  local first = 2 + 5 * index
  return {
    ids = KEYS[first],
    created = KEYS[first + 1],
    updated = KEYS[first + 2],
    owners = KEYS[first + 3],
    item = KEYS[first + 4],
  }
end

-- Returns an error if a key has another type, so that no later command fails because of it.
local function wrong_type(keys)
  for _, key in ipairs({ keys.ids, keys.created, keys.updated, keys.owners }) do
    local kind = redis.call('TYPE', key).ok
    if kind ~= 'zset' and kind ~= 'none' then
      return redis.error_reply('WRONGTYPE ' .. key .. ' is a ' .. kind .. ' and not a sorted set')
    end
  end
end

-- The rules of expiry: prefixes, each with the time at or before which an item must have been saved to be expired.
local function expiry_rules()
  local rules = {}
  for index = 1, number() do
    rules[index] = { prefix = argument(), cutoff = tonumber(argument()) }
  end
  return rules
end

-- The first rule whose prefix fits decides.
local function is_expired(rules, id, updated)
  for _, rule in ipairs(rules) do
    if string.sub(id, 1, #rule.prefix) == rule.prefix then
      return rule.cutoff ~= nil and updated <= rule.cutoff
    end
  end
  return false
end

-- A member of the index of users. Users contain no NUL.
local function owned(user, id)
  return user .. '\0' .. id
end

local function remove(keys, id)
  local user = redis.pcall('HGET', keys.item .. id, 'user')
  redis.call('DEL', keys.item .. id)
  redis.call('ZREM', keys.ids, id)
  redis.call('ZREM', keys.created, id)
  redis.call('ZREM', keys.updated, id)
  if type(user) == 'string' then
    redis.call('ZREM', keys.owners, owned(user, id))
  end
end

-- Removes a tenant without items from the set of tenants.
local function forget_if_empty(keys, name)
  if redis.call('EXISTS', keys.ids) == 0 then
    redis.call('SREM', KEYS[1], name)
  end
end
