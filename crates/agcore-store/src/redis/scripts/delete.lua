-- Deletes an item. Returns whether it existed and had not expired.
-- Arguments: the name of the tenant, the rules of expiry, the id.

local name = argument()
local rules = expiry_rules()
local id = argument()
local keys = tenant(0)
local wrong = wrong_type(keys)
if wrong then
  return wrong
end
local updated = redis.call('HGET', keys.item .. id, 'updated')
local is_visible = updated and not is_expired(rules, id, tonumber(updated) or math.huge)
remove(keys, id)
forget_if_empty(keys, name)
return is_visible and 1 or 0
