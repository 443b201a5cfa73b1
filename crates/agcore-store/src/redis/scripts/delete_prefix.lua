-- Deletes the items in a range of ids. Returns the number of those that had not expired.
-- Arguments: the name of the tenant, the rules of expiry, the range.

local name = argument()
local rules = expiry_rules()
local from, to = argument(), argument()
local keys = tenant(0)
local wrong = wrong_type(keys)
if wrong then
  return wrong
end
local deleted = 0
for _, id in ipairs(redis.call('ZRANGEBYLEX', keys.ids, from, to)) do
  local updated = tonumber(redis.call('ZSCORE', keys.updated, id) or '')
  if not is_expired(rules, id, updated or math.huge) then
    deleted = deleted + 1
  end
  remove(keys, id)
end
forget_if_empty(keys, name)
return deleted
