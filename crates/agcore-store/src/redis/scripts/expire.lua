-- Removes the items of a tenant that have expired. Returns their number.
-- Arguments: the name of the tenant, the rules of expiry, the latest time in them.

local name = argument()
local rules = expiry_rules()
local latest = argument()
local keys = tenant(0)
local wrong = wrong_type(keys)
if wrong then
  return wrong
end
local removed = 0
-- With their scores: an id and its time alternate.
local old = redis.call('ZRANGEBYSCORE', keys.updated, '-inf', latest, 'WITHSCORES')
for place = 1, #old, 2 do
  if is_expired(rules, old[place], tonumber(old[place + 1])) then
    remove(keys, old[place])
    removed = removed + 1
  end
end
forget_if_empty(keys, name)
return removed
