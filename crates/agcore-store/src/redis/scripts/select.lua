-- Lists or counts the items that a filter selects.
-- Arguments: `list` or `count`, the rules of expiry, the index and the range in it, the conditions, and for a list its order,
-- offset and limit.

local wants_list = argument() == 'list'
local rules = expiry_rules()
local keys = tenant(0)
local index_name, from, to = argument(), argument(), argument()
local index = keys[index_name]
local since, until_, valid_at = number(), number(), number()
local user, line = nil, nil
local has_owner = argument() == '1'
if has_owner then
  user, line = argument(), argument()
end
local fields = { 'updated', 'created', 'from', 'until', 'user', 'line' }
local values = {}
for place = 1, number() do
  fields[#fields + 1] = argument()
  values[place] = argument()
end

-- Returns whether the conditions hold, or nothing if the item is damaged.
local function matches(id, item)
  local updated, created = tonumber(item[1]), tonumber(item[2])
  local valid_from, valid_until = tonumber(item[3]), tonumber(item[4])
  if not updated or not created or (item[3] and not valid_from) or (item[4] and not valid_until) then
    return nil
  end
  if is_expired(rules, id, updated) or (since and created <= since) or (until_ and created >= until_) then
    return false
  end
  if valid_at and ((valid_from and valid_from > valid_at) or (valid_until and valid_until <= valid_at)) then
    return false
  end
  if has_owner and (item[5] ~= user or (item[6] or '') ~= line) then
    return false
  end
  for place, value in ipairs(values) do
    if item[6 + place] ~= value then
      return false
    end
  end
  return true
end

-- The range as ranks, so that its parts can be read without looking for them again.
local first, count
if index_name == 'created' then
  first = since and redis.call('ZCOUNT', index, '-inf', since) or 0
  count = redis.call('ZCOUNT', index, from, to)
else
  first = redis.call('ZLEXCOUNT', index, '-', '(' .. string.sub(from, 2))
  count = redis.call('ZLEXCOUNT', index, from, to)
end

local is_plain = #rules == 0 and not has_owner and not valid_at and #values == 0
if not wants_list and is_plain and (index_name == 'created' or (not since and not until_)) then
  return count
end

local newest_first, offset, limit = false, 0, math.huge
if wants_list then
  newest_first, offset, limit = argument() == 'newest', number(), tonumber(argument()) or math.huge
end
-- Only the index of times has the order of the list; otherwise everything must be read before it is sorted.
local enough = index_name == 'created' and wants_list and offset + limit or math.huge
local found = {}
local taken = 0
while taken < count and #found < enough do
  local size = math.min(1000, count - taken)
  local start = newest_first and first + count - taken - size or first + taken
  local ids = redis.call('ZRANGE', index, start, start + size - 1)
  for step = 1, #ids do
    local id = ids[newest_first and #ids + 1 - step or step]
    if index_name == 'owners' then
      id = string.sub(id, #user + 2)
    end
    local item = redis.call('HMGET', keys.item .. id, unpack(fields))
    -- Without any member, the item was removed by someone else.
    local is_found = (item[1] or item[2] or item[5]) and matches(id, item)
    if is_found == nil then
      return redis.error_reply('DAMAGED the times of the item ' .. id .. ' cannot be read')
    end
    if is_found then
      found[#found + 1] = { id = id, created = tonumber(item[2]), place = #found }
      if #found >= enough then
        break
      end
    end
  end
  taken = taken + size
end
if not wants_list then
  return #found
end

if index_name ~= 'created' then
  -- The index has the order of the ids, or the opposite one.
  table.sort(found, function(one, other)
    if one.created ~= other.created then
      return (one.created < other.created) ~= newest_first
    end
    return one.place < other.place
  end)
end
local page = {}
for place = offset + 1, math.min(offset + limit, #found) do
  local id = found[place].id
  local item = redis.call('HMGET', keys.item .. id, 'content', 'user', 'line', 'source', 'metadata', 'created', 'updated',
    'from', 'until')
  table.insert(item, 1, id)
  page[#page + 1] = item
end
return page
